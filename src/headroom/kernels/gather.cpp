// Moving rows.
#include "kernels/gather.hpp"

#include <algorithm>

#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls body(row, first, n) for pieces of rows: many short rows or parts of a few long ones.
template <class F>
void for_row_pieces(Index rows, Index width, F body) {
  constexpr Index longest = 16384;
  if (width == 0) return;
  const Index pieces = (width + longest - 1) / longest;
  const Index length = (width + pieces - 1) / pieces;
  parallel_for(rows * pieces, grain_for(length), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Index first = item % pieces * length;
      body(item / pieces, first, std::min(length, width - first));
    }
  });
}

void add(const Real* x, Index n, Real* y) {
  for (Index i = 0; i < n; ++i) y[i] += x[i];
}

}  // namespace

void copy_block(const Real* x, Index x_stride, Index rows, Index width, Real* y, Index y_stride) {
  for_row_pieces(rows, width, [&](Index row, Index first, Index n) {
    std::copy_n(x + row * x_stride + first, n, y + row * y_stride + first);
  });
}

void add_block(const Real* x, Index x_stride, Index rows, Index width, Real* y, Index y_stride) {
  for_row_pieces(rows, width, [&](Index row, Index first, Index n) {
    add(x + row * x_stride + first, n, y + row * y_stride + first);
  });
}

void gather_rows(const Real* x, Index outer, Index n, Index inner, const std::int32_t* positions,
                 Index count, Real* y) {
  for_row_pieces(outer * count, inner, [&](Index row, Index first, Index length) {
    const Index from = row / count * n + Index{positions[row % count]};
    std::copy_n(x + from * inner + first, length, y + row * inner + first);
  });
}

void scatter_add_rows(const Real* dy, Index outer, Index n, Index inner,
                      const std::int32_t* positions, Index count, Real* dx) {
  if (inner == 0) return;
  constexpr Index widest = 64;
  const Index width = std::min(inner, widest);
  const Index blocks = (inner + width - 1) / width;
  parallel_for(outer * blocks, grain_for(width * count), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Index o = item / blocks, first = item % blocks * width;
      const Index length = std::min(width, inner - first);
      for (Index i = 0; i < count; ++i) {
        add(dy + (o * count + i) * inner + first, length,
            dx + (o * n + Index{positions[i]}) * inner + first);
      }
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
