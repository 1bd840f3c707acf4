// The parts of findings(): one function per section of the page. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// "99.6 %"
std::string percent(double fraction);
/// "3.6e-7", "0.001": two digits, and an exponent only where it is shorter.
std::string small(double value);
/// The text with its first letter large.
std::string capital(std::string text);
/// {"title", "look"}
Record finding(std::string title, std::string look);

/// How many heads there are and how many of them live, of one kind of attention.
struct Share {
  std::string kind;
  Index kept = 0, all = 0;
  double share() const { return static_cast<double>(kept) / static_cast<double>(all); }
};
std::vector<Share> shares_of(const Record& run);

/// Null where the run has no records for the section.
Record heads_finding(const Record& run);
Record before_after_finding(const Record& run);
Record telemetry_finding(const Record& run);
Record maps_finding(const Record& run);
Record importance_finding(const Record& run, const std::vector<std::string>& models);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
