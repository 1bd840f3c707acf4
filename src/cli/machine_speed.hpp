// The peak speeds of this machine, for doctor and for profiles.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// GFLOP/s of the fastest of several products of two [n, n] matrices, by our own gemm, all threads.
double product_speed(Index n);

/// GB/s of the fastest of several sums of two arrays of 64 MB, all threads. Counts two elements
/// read and one written. Operations on smaller arrays can be faster, since these stay in the
/// caches.
double memory_speed();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
