// The page of an answer to "which half of the heads can go?".
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/fields.hpp"
#include "headroom_lab/report/half.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string half_page(const HalfRecord& record) {
  if (record.models.empty()) throw UsageError("half page: the record has no model");
  Record contents = json_of(record);
  contents["means"] = json_of(record.means());
  contents["own"] = own_functions();
  const HalfModel& first = record.models.front();
  return compose_page(
      "Which half of the heads can go?",
      fmt::format("{} small transformers with {} heads read dates. Six heads of each were "
                  "removed, and training went on for {} steps. There are {} ways to choose six.",
                  record.models.size(), first.heads.size(), record.recovery, first.losses.size()),
      contents, "", page::half_js, page::half_css);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
