// The page of attention maps.
#include <fmt/format.h>

#include <string_view>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/report/attend.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Summary of the page.
std::string attend_summary(const AttentionRecord& record) {
  const Index heads = record.model.heads, alive = record.model.alive;
  const std::string left = alive == heads ? fmt::format("All {} heads are alive", heads)
                                          : fmt::format("{} of {} heads are alive", alive, heads);
  const bool switchable = record.page_model->left_out.empty();
  return fmt::format(
      "This page shows the attention weights of every head of a trained model. {}. {}", left,
      switchable ? "The page contains the model: type another input or switch "
                   "heads off, and it predicts again."
                 : "The maps were computed when the page was written.");
}

}  // namespace

std::string attend_page(const AttentionRecord& record) {
  if (!record.page_model) {
    throw UsageError("attend page: page_model is missing (set it with page_model_record())");
  }
  std::string script;
  for (const std::string_view part : {page::model_js, page::answers_js, page::attend_js}) {
    script.append(part).append("\n");
  }
  return compose_page(record.title, attend_summary(record), json_of(record), "", script);
}

void write_attend_page(const AttentionRecord& record, const std::filesystem::path& file) {
  write_file(file, attend_page(record));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
