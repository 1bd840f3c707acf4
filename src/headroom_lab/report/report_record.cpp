// Records of reports: what must fit together.
#include "headroom_lab/report/report_record.hpp"

#include <fmt/format.h>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void check_arms(const ArmsRecord& all, const std::string& origin) {
  for (std::size_t i = 0; i < all.arms.size(); ++i) {
    const ArmRecord& arm = all.arms[i];
    if (!arm.cut.empty() && arm.cut.size() == arm.recovered.size()) continue;
    throw DataError(
        fmt::format("{}: arms.arms[{}] has {} results after the cut and {} after recovery", origin,
                    i, arm.cut.size(), arm.recovered.size()));
  }
}

}  // namespace

ReportRecord report_record(const Record& json, const std::string& origin) {
  ReportRecord run = struct_of<ReportRecord>(json, origin);
  check(run, origin);
  return run;
}

void check(const ReportRecord& run, const std::string& origin) {
  check(static_cast<const RunRecord&>(run), origin);
  for (std::size_t i = 0; i < run.criteria.size(); ++i) {
    if (run.criteria[i].importance.size() == run.heads.size()) continue;
    throw DataError(fmt::format("{}: criteria[{}].importance has {} values for {} heads", origin, i,
                                run.criteria[i].importance.size(), run.heads.size()));
  }
  if (run.arms) check_arms(*run.arms, origin);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
