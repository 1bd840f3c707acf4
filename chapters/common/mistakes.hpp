// What the mistakes of an exercise give: written by the checks of answers that have one, read by
// the checks of a learner's answer.
#pragma once

#include <string>
#include <vector>

#include "headroom/array/array.hpp"

namespace chapter {

/// Begins a stage, in which comparisons are counted anew. The reporter calls it.
void begin_stage();

/// Counts a comparison of the stage. Call it once for each.
void begin_comparison();

/// Whether the answer is one with a mistake, whose wrong results are to be written to the file that
/// HEADROOM_OBSERVED names. The checks then do not stop at a wrong result.
bool observing();

/// If observing(), writes the wrong result of the current comparison. Returns whether it did.
bool observe(const headroom::Array& wrong);

/// The sentences of the mistakes that gave this wrong result in the current comparison, each once,
/// from the file that HEADROOM_MISTAKES names; none without it.
std::vector<std::string> mistakes_like(const headroom::Array& wrong);

/// Whether two elements are not equal within the tolerance. NaN differs from everything, NaN
/// included.
bool differ(headroom::Real expected, headroom::Real yours);

}  // namespace chapter
