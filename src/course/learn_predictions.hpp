// Predictions before the experiments of the course.
#pragma once

#include <map>
#include <set>
#include <string>

#include "course/learn_course.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The predictions that experiments show, "07/a", with the words that their chapter allows in place
/// of a number.
std::map<std::string, std::set<std::string>> known_predictions(const Course& course);

/// The name of a prediction, "07/a" for "7/a". Throws UsageError, with the names that there are,
/// for an unknown one, and for a value that is neither a number, such as 0.5, 1e-8, 35% or 1/3, nor
/// an allowed word.
std::string checked_prediction(const Course& course, const std::string& name,
                               const std::string& value);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
