// The page of a model that reads dates, to send to others.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_lab/report/attend.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string title(const MakerRecord& maker) {
  return maker.name.empty() ? "A transformer that reads dates"
                            : fmt::format("{}'s transformer reads dates", maker.name);
}

std::string summary(const AttentionRecord& record, const MakerRecord& maker) {
  const std::string who = maker.name.empty() ? "Its maker" : maker.name;
  const std::string built =
      maker.functions.empty()
          ? ""
          : fmt::format(" {} wrote the functions below, with which it was trained.", who);
  return fmt::format(
      "This small neural network writes dates as year-month-day, and it runs in this page, on your "
      "device.{} Type a date. Then switch some of its {} attention heads off, and see what it gets "
      "wrong.",
      built, record.model.alive);
}

}  // namespace

std::string dates_page(const AttentionRecord& record, const MakerRecord& maker) {
  if (!record.page_model || !record.page_model->left_out.empty()) {
    throw UsageError("dates page: page_model is missing (set it with page_model_record())");
  }
  Record contents = json_of(record);
  contents["maker"] = json_of(maker);
  std::string script;
  for (const std::string_view part : {page::model_js, page::answers_js, page::dates_js}) {
    script.append(part).append("\n");
  }
  return compose_page(title(maker), summary(record, maker), contents, "", script, page::dates_css);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
