// Numbers of a study that findings and page share. Private.
#pragma once

#include <vector>

#include "headroom_lab/study/results.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The comparisons of arms, not of controls, with the model with all heads, by the first measure.
std::vector<const StudyContrast*> from_all_heads(const StudyResults& results);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
