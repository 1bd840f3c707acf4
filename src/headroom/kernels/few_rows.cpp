// Dot products in tiles: each tile keeps its sums in registers.
#include "kernels/few_rows.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "headroom/base/parallel.hpp"
#include "kernels/fetch_ahead.hpp"
#include "kernels/lane_sums.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {

/// A and B from the first row of the tile on, C and the bias from its first result on.
struct Corner {
  const Real *a, *b, *bias;
  Real* c;
  Index a_stride, b_stride, c_stride;
};

/// Writes column `s` of row `r`, with the bias or beta times the old value added.
inline void write(const Corner& at, Index r, Index s, Real dot, Real beta) {
  Real& c = at.c[r * at.c_stride + s];
  if (at.bias != nullptr) {
    c = dot + at.bias[s];
  } else {
    c = beta == Real(0) ? dot : dot + beta * c;
  }
}

/// Whether a pass over a block of B's rows prefetches the next block: the first one does, so that
/// the memory arrives during the passes of the other rows of A.
enum class Pass { fetching, plain };

/// One tile of `rows` rows of A against tile / rows rows of B.
template <int rows, Pass pass>
void dot_tile(const Corner& at, Index k, Real alpha, Real beta) {
  constexpr int columns = dot_tile_size / rows;
  constexpr auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
  Batch sums[height][width];
  for (auto& row : sums) std::fill(std::begin(row), std::end(row), Batch(Real(0)));
  const auto multiply_add = [&](const auto& load, Index i) {
    Batch x[height];
    for (int r = 0; r < rows; ++r) x[r] = load(at.a + r * at.a_stride + i);
    for (int s = 0; s < columns; ++s) {
      const Real* const row = at.b + s * at.b_stride + i;
      const Batch y = load(row);
      if constexpr (pass == Pass::fetching) fetch_line(row, dot_tile_size * at.b_stride);
      for (int r = 0; r < rows; ++r) sums[r][s] = xsimd::fma(x[r], y, sums[r][s]);
    }
  };
  Index i = 0;
  for (; i + batch_size <= k; i += batch_size) {
    multiply_add([](const Real* x) { return Batch::load_unaligned(x); }, i);
  }
  if (i < k) multiply_add([n = k - i](const Real* x) { return load_tail(x, n, Real(0)); }, i);

  Real dots[height][width];
  sum_lanes(&sums[0][0], &dots[0][0]);
  for (int r = 0; r < rows; ++r) {
    for (int s = 0; s < columns; ++s) write(at, r, s, alpha * dots[r][s], beta);
  }
}

/// The rest that no tile covers: one dot product after the other.
void dots(const Corner& at, Index rows, Index columns, Index k, Real alpha, Real beta) {
  for (Index r = 0; r < rows; ++r) {
    for (Index s = 0; s < columns; ++s) {
      write(at, r, s, alpha * row_dot(at.a + r * at.a_stride, at.b + s * at.b_stride, k), beta);
    }
  }
}

/// `rows` rows of A against rows [begin, end) of B.
template <int rows, Pass pass>
void strip(Corner at, Index begin, Index end, Index k, Real alpha, Real beta) {
  constexpr int columns = dot_tile_size / rows;
  const auto move = [&](Index by) {
    at.b += by * at.b_stride;
    at.c += by;
    if (at.bias != nullptr) at.bias += by;
  };
  move(begin);
  for (; begin + columns <= end; begin += columns) {
    dot_tile<rows, pass>(at, k, alpha, beta);
    move(columns);
  }
  dots(at, rows, end - begin, k, alpha, beta);
}

}  // namespace

void few_rows(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Addend addend, Real* c,
              Index c_stride) {
  // Chunks of 8192 multiply-adds or more, but no second thread for less than four of them.
  constexpr Index block = dot_tile_size;  // rows of B that stay in the cache for all rows of A
  constexpr Index chunk = 8192;
  const Index all = m * n * k;
  const Index grain = all < 4 * chunk ? std::max<Index>(1, n)
                                      : (grain_for(m * k, chunk) + block - 1) / block * block;
  parallel_for(n, grain, [&](Index begin, Index end) {
    for (Index j = begin; j < end; j += block) {
      const Index stop = std::min(j + block, end);
      Index i = 0;
      const auto corner = [&] {
        return Corner{a.data + i * a.stride,
                      b.data,
                      addend.bias,
                      c + i * c_stride,
                      a.stride,
                      b.stride,
                      c_stride};
      };
      const auto run = [&]<int rows>(std::integral_constant<int, rows>) {
        const auto apply = i == 0 ? strip<rows, Pass::fetching> : strip<rows, Pass::plain>;
        apply(corner(), j, stop, k, alpha, addend.beta);
        i += rows;
      };
      while (i + 4 <= m) run(std::integral_constant<int, 4>());
      while (i + 2 <= m) run(std::integral_constant<int, 2>());
      while (i < m) run(std::integral_constant<int, 1>());
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
