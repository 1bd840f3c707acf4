// Finds experiments by the words of a question.
#pragma once

#include <string>
#include <vector>

#include "headroom_lab/lab/experiment.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Returns the experiments whose words fit those of a text, best first. Two words fit if they
/// differ in their endings only ("shared", "sharing"), or if they are synonyms ("pruning",
/// "removed"). A word counts less the more experiments it fits, log(n / n_fit), times 1 if it is in
/// the name, the title or Experiment::words, 0.8 in the question or its source, and 0.6 if only a
/// synonym is there. At most 5 are returned, none with less than half of the best sum.
/// Returns all experiments, in their order, for a text without words other than "is", "the" and the
/// like; none if no word fits.
std::vector<const Experiment*> experiments_about(const std::string& text);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
