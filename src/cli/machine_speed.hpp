// The peak speeds of this machine, for doctor and for profiles.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// GFLOP/s of the best of some products of two [n, n] matrices, by our own gemm, all threads.
double product_speed(Index n);

/// GB/s of the best of some sums of two arrays of 64 MB, all threads: two elements read and one
/// written count. Operations on smaller arrays can be faster, since theirs stay in the caches.
double memory_speed();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
