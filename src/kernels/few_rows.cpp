// Dot products in tiles: each tile keeps its sums in registers.
#include "kernels/few_rows.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "headroom/base/parallel.hpp"
#include "kernels/simd.hpp"

namespace headroom::inline HEADROOM_PRECISION {
namespace kernels {

namespace {

/// Dot products of a tile: as many as fill whole batches with their sums.
constexpr int tile = 16;
static_assert(tile % Batch::size == 0);

/// A and B with the first row of the tile, and C where the tile's results go.
struct Corner {
  const Real *a, *b;
  Real* c;
  Index a_stride, b_stride, c_stride;
};

/// Which of the batches given to xsimd::haddp each lane of its result sums. It should be its own
/// number, but xsimd 8.1 mixes them up on AVX-512; so it is asked once.
const std::array<int, Batch::size>& summed_in_lane() {
  static const auto order = [] {
    Batch numbered[Batch::size];
    for (std::size_t t = 0; t < Batch::size; ++t) numbered[t] = Batch(static_cast<Real>(t));
    Real sums[Batch::size];
    xsimd::haddp(numbered).store_unaligned(sums);
    std::array<int, Batch::size> batch_of{};
    for (std::size_t lane = 0; lane < Batch::size; ++lane) {
      batch_of[lane] = static_cast<int>(sums[lane]) / static_cast<int>(Batch::size);
    }
    return batch_of;
  }();
  return order;
}

/// dots[t] = the sum of batch t's lanes, for a whole tile.
inline void sum_lanes(const Batch* sums, const std::array<int, Batch::size>& order, Real* dots) {
  for (std::size_t first = 0; first < tile; first += Batch::size) {
    Real lanes[Batch::size];
    xsimd::haddp(sums + first).store_unaligned(lanes);
    for (std::size_t lane = 0; lane < Batch::size; ++lane) {
      dots[first + static_cast<std::size_t>(order[lane])] = lanes[lane];
    }
  }
}

/// One tile of `rows` rows of A against tile / rows rows of B.
template <int rows>
void dot_tile(const Corner& at, Index k, Real alpha, Real beta) {
  constexpr int columns = tile / rows;
  constexpr auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
  Batch sums[height][width];
  for (auto& row : sums) std::fill(std::begin(row), std::end(row), Batch(Real(0)));
  const auto multiply_add = [&](const auto& load, Index i) {
    Batch x[height];
    for (int r = 0; r < rows; ++r) x[r] = load(at.a + r * at.a_stride + i);
    for (int s = 0; s < columns; ++s) {
      const Batch y = load(at.b + s * at.b_stride + i);
      for (int r = 0; r < rows; ++r) sums[r][s] = xsimd::fma(x[r], y, sums[r][s]);
    }
  };
  Index i = 0;
  for (; i + batch_size <= k; i += batch_size) {
    multiply_add([](const Real* x) { return Batch::load_unaligned(x); }, i);
  }
  if (i < k) multiply_add([n = k - i](const Real* x) { return load_tail(x, n, Real(0)); }, i);

  Real dots[height][width];
  sum_lanes(&sums[0][0], summed_in_lane(), &dots[0][0]);
  for (int r = 0; r < rows; ++r) {
    Real* const c = at.c + r * at.c_stride;
    for (int s = 0; s < columns; ++s) {
      const Real dot = alpha * dots[r][s];
      c[s] = beta == Real(0) ? dot : dot + beta * c[s];
    }
  }
}

/// What no tile covers: one dot product after the other.
void dots(const Corner& at, Index rows, Index columns, Index k, Real alpha, Real beta) {
  for (Index r = 0; r < rows; ++r) {
    Real* const c = at.c + r * at.c_stride;
    for (Index s = 0; s < columns; ++s) {
      const Real dot = alpha * row_dot(at.a + r * at.a_stride, at.b + s * at.b_stride, k);
      c[s] = beta == Real(0) ? dot : dot + beta * c[s];
    }
  }
}

/// `rows` rows of A against rows [begin, end) of B.
template <int rows>
void strip(Corner at, Index begin, Index end, Index k, Real alpha, Real beta) {
  constexpr int columns = tile / rows;
  at.b += begin * at.b_stride;
  at.c += begin;
  for (; begin + columns <= end; begin += columns) {
    dot_tile<rows>(at, k, alpha, beta);
    at.b += columns * at.b_stride;
    at.c += columns;
  }
  dots(at, rows, end - begin, k, alpha, beta);
}

}  // namespace

void few_rows(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
              Index c_stride) {
  // Chunks of 8192 multiply-adds or more, but no second thread for less than four of them.
  constexpr Index block = tile;  // rows of B that stay in the cache for all rows of A
  constexpr Index chunk = 8192;
  const Index all = m * n * k;
  const Index grain = all < 4 * chunk ? n : (grain_for(m * k, chunk) + block - 1) / block * block;
  parallel_for(n, grain, [&](Index begin, Index end) {
    for (Index j = begin; j < end; j += block) {
      const Index stop = std::min(j + block, end);
      Index i = 0;
      const auto corner = [&] {
        return Corner{
            a.data + i * a.stride, b.data, c + i * c_stride, a.stride, b.stride, c_stride};
      };
      for (; i + 4 <= m; i += 4) strip<4>(corner(), j, stop, k, alpha, beta);
      for (; i + 2 <= m; i += 2) strip<2>(corner(), j, stop, k, alpha, beta);
      for (; i < m; ++i) strip<1>(corner(), j, stop, k, alpha, beta);
    }
  });
}

}  // namespace kernels
}  // namespace headroom::inline HEADROOM_PRECISION
