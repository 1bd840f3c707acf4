// Record: what experiments return and reports read: named values, lists and tables.
#pragma once

#include <nlohmann/json.hpp>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A JSON value that keeps the order in which its keys were written. A run's records are the only
/// thing the report floor sees: it knows records, not models.
using Record = nlohmann::ordered_json;

/// A number as records keep it where more digits would be noise: with so many significant ones.
/// null when it is not finite.
Record rounded_number(double value, int digits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
