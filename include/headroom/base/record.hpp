// Record: a JSON value. Structs such as RunRecord become one when a file or page is written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A JSON value that keeps the order in which its keys were written. io/fields.hpp converts structs
/// to it and back. This header only declares the type, which is enough to declare a function that
/// takes or returns one. To create one or use its members, include base/record_json.hpp.
using Record = nlohmann::ordered_json;

/// The number rounded to so many significant digits, for records in which more digits would be
/// noise. Numbers that are not finite stay as they are.
double rounded_number(double value, int digits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
