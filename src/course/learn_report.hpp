// A page for the learner: what was tried, and how it went.
#pragma once

#include <string>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The page, one HTML file: exercises with time and attempts, diagnoses, predictions, questions.
std::string report_page(const Course& course, Workspace& workspace);

/// How near a prediction, "1e-8", "35 %", "1/3" or a word, is to what was measured: "right", "2
/// times too large"; "" for a word.
std::string nearness(const std::string& predicted, double measured);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
