// The hard choice of the k largest values. Private.
#pragma once

#include <span>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// 1 for the k largest values, the first of equals, else 0.
std::vector<double> top_k(std::span<const double> values, Index k);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
