// Lists of metrics as people write them: "cheap", "all", "path,depth".
#pragma once

#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The metrics that a text names, in its order: names with commas between them, where "all" stands
/// for all metrics and "cheap" for those that need no passes of their own. `shown` is how errors
/// call the text, such as "--metric". Throws UsageError for an unknown name, with the nearest, and
/// for one that is given twice.
std::vector<std::string> metrics_in(const std::string& text, const std::string& shown);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
