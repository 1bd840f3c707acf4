// Several dot products at a time: each is a batch of partial sums; their lanes are summed together.
#pragma once

#include <array>

#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// Dot products of a tile: as many as fill whole batches with their sums.
inline constexpr int dot_tile_size = 16;
static_assert(dot_tile_size % Batch::size == 0);

/// Which of the batches given to xsimd::haddp each lane of its result sums. It should be the lane's
/// own index, but xsimd 8.1 permutes them on AVX-512; so it is determined once.
inline const std::array<int, Batch::size>& summed_in_lane() {
  static const auto order = [] {
    Batch numbered[Batch::size];
    for (std::size_t t = 0; t < Batch::size; ++t) numbered[t] = Batch(Real(t));
    Real sums[Batch::size];
    xsimd::haddp(numbered).store_unaligned(sums);
    std::array<int, Batch::size> batch_of{};
    for (std::size_t lane = 0; lane < Batch::size; ++lane) {
      batch_of[lane] = int(sums[lane]) / int(Batch::size);
    }
    return batch_of;
  }();
  return order;
}

/// dots[t] = the sum of batch t's lanes, for a whole tile.
inline void sum_lanes(const Batch* sums, Real* dots) {
  const std::array<int, Batch::size>& order = summed_in_lane();
  for (std::size_t first = 0; first < dot_tile_size; first += Batch::size) {
    Real lanes[Batch::size];
    xsimd::haddp(sums + first).store_unaligned(lanes);
    for (std::size_t lane = 0; lane < Batch::size; ++lane) {
      dots[first + static_cast<std::size_t>(order[lane])] = lanes[lane];
    }
  }
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
