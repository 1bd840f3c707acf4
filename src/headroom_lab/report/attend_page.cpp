// The page of attention maps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/base64.hpp"
#include "headroom_lab/report/attend.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_numbers = 150'000;  // weights that a page has as numbers

/// The weights of all maps together.
Index weights_in(const ExampleRecord& example) {
  Index weights = 0;
  for (const MapRecord& map : example.maps) {
    if (!map.rows.empty()) weights += std::ssize(map.rows) * std::ssize(map.rows.front());
  }
  return weights;
}

/// The weights of a map in base64, a byte each: 255 is 1.
std::string bytes_of(const MapRecord& map) {
  std::vector<std::byte> bytes;
  for (const std::vector<double>& row : map.rows) {
    for (const double weight : row) {
      bytes.push_back(static_cast<std::byte>(std::lround(std::clamp(weight, 0.0, 1.0) * 255)));
    }
  }
  return base64(bytes);
}

/// The record in JSON. Many weights are bytes in place of rows of numbers.
Record page_json(const AttentionRecord& record) {
  if (weights_in(record.example) <= most_numbers) return json_of(record);
  AttentionRecord packed = record;
  for (MapRecord& map : packed.example.maps) map.rows.clear();
  Record json = json_of(packed);
  for (std::size_t i = 0; i < record.example.maps.size(); ++i) {
    json["example"]["maps"][i]["bytes"] = bytes_of(record.example.maps[i]);
  }
  return json;
}

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
                        : "The maps were computed when the page was written.") +
         (weights_in(record.example) > most_numbers
              ? " Their weights are rounded to multiples of 1/255, so that the page stays small."
              : "");
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
  return compose_page(record.title, attend_summary(record), page_json(record), "", script);
}

void write_attend_page(const AttentionRecord& record, const std::filesystem::path& file) {
  write_file(file, attend_page(record));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
