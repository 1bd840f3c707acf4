// The wrong results of an exercise's known mistakes. The checks of an answer that has a mistake
// write them, the checks of a learner's answer read them. They stop at the first wrong result,
// which tells enough: an answer that comes further than a mistake has another one.
#pragma once

#include <string>
#include <vector>

#include "headroom/array/array.hpp"

namespace chapter {

/// Counts a comparison of the checks. Call it once for each.
void begin_comparison();

/// The sentences of the mistakes that gave this wrong result in the same comparison, each once.
/// HEADROOM_MISTAKES has a line for each mistake: the path of a file with its sentence and its
/// results. The result of this call is added to the file that HEADROOM_OBSERVED names, if set. The
/// numbers in `also` are compared as well.
std::vector<std::string> mistakes_like(const headroom::Array& wrong,
                                       const headroom::Array& also = {});

/// Whether two elements are not equal within the tolerance. NaN differs from everything, NaN
/// included.
bool differ(headroom::Real expected, headroom::Real yours);

}  // namespace chapter
