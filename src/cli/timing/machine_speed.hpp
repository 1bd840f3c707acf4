// The peak speeds of this machine, for doctor and for profiles.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// GFLOP/s of the fastest of several products of two [n, n] matrices, by our own gemm, all threads.
double product_speed(Index n);

/// GB/s of the fastest of several sums of two arrays of `bytes` bytes, all threads. Counts two
/// elements read and one written. Small arrays stay in the caches, so their sums are faster.
double memory_speed(Index bytes = Index{64} << 20);

/// The size of the arrays, a power of two from 4 KB to 64 MB, whose sum reads and writes about so
/// many bytes.
Index sum_size(double bytes);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
