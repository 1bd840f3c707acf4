// A page for the learner: what was tried, and how it went.
#pragma once

#include <string>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The page, one HTML file: exercises with time and attempts, diagnoses, predictions, questions.
std::string report_page(const Course& course, Workspace& workspace);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
