// Record: a JSON value, in which experiments return and reports read their results.
#pragma once

#include <nlohmann/json.hpp>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A JSON value that keeps the order in which its keys were written. A run's records are the only
/// thing the report floor sees: it knows records, not models.
using Record = nlohmann::ordered_json;

/// The number rounded to so many significant digits, for records in which more digits would be
/// noise. null when it is not finite.
Record rounded_number(double value, int digits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
