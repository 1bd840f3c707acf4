// Sums and extremes: blocks of columns and pieces of the folded axis, in parallel.
#include "kernels/reduce.hpp"

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "kernels/fetch_ahead.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct Sum {
  static Real of(Real a, Real b) { return a + b; }
};
struct Max {  // v != v: a NaN wins
  static Real of(Real a, Real b) { return b > a || b != b ? b : a; }
};
struct Min {
  static Real of(Real a, Real b) { return b < a || b != b ? b : a; }
};

/// Fold of n > 0 contiguous elements, in `lanes` interleaved parts: vectorises, and rounds less
/// than one long sum.
template <class F>
Real fold_row(const Real* x, Index n) {
  constexpr Index lanes = 16;
  if (n < lanes) {
    Real result = x[0];
    for (Index j = 1; j < n; ++j) result = F::of(result, x[j]);
    return result;
  }
  Real part[lanes];
  std::copy_n(x, lanes, part);
  Index j = lanes;
  for (; j + lanes <= n; j += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) part[lane] = F::of(part[lane], x[j + lane]);
  }
  for (; j < n; ++j) part[0] = F::of(part[0], x[j]);
  for (Index half = lanes / 2; half > 0; half /= 2) {
    for (Index lane = 0; lane < half; ++lane) part[lane] = F::of(part[lane], part[lane + half]);
  }
  return part[0];
}

/// Fold of n > 0 rows of `width` elements, the rows `stride` apart.
template <class F>
void fold_rows(const Real* x, Index n, Index stride, Index width, Real* y) {
  if (width == 1 && stride == 1) {
    *y = fold_row<F>(x, n);
    return;
  }
  std::copy_n(x, width, y);
  for (Index j = 1; j < n; ++j) {
    const Real* const row = x + j * stride;
    kernels::fetch_ahead(row, width);
    for (Index i = 0; i < width; ++i) y[i] = F::of(y[i], row[i]);
  }
}

template <class F>
void fold_middle_by(const Real* x, Index outer, Index n, Index inner, Real* y) {
  constexpr Index widest = 4096;       // columns folded together: they stay in the cache
  constexpr Index piece_cost = 65536;  // elements of a piece, at least
  constexpr Index enough = 16;         // blocks that keep all threads busy without pieces
  const Index width = std::min(inner, widest);
  const Index blocks = (inner + width - 1) / width;
  const Index piece = std::max<Index>(2, piece_cost / width);
  const Index pieces = outer * blocks >= enough ? 1 : (n + piece - 1) / piece;
  const Index length = pieces == 1 ? n : piece;

  Array parts;
  if (pieces > 1) parts = Array(Shape{outer, pieces, inner});
  Real* const out = pieces > 1 ? parts.data() : y;
  const Index items = outer * pieces * blocks;
  parallel_for(items, grain_for(length * width, piece_cost), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Index o = item / (pieces * blocks), p = item / blocks % pieces;
      const Index first = p * length, column = item % blocks * width;
      fold_rows<F>(x + (o * n + first) * inner + column, std::min(length, n - first), inner,
                   std::min(width, inner - column), out + (o * pieces + p) * inner + column);
    }
  });
  if (pieces > 1) fold_middle_by<F>(parts.data(), outer, pieces, inner, y);
}

}  // namespace

void fold_middle(Fold fold, const Real* x, Index outer, Index n, Index inner, Real* y) {
  if (outer == 0 || inner == 0) return;
  if (n == 0) {
    std::fill_n(y, outer * inner, Real(0));
    return;
  }
  switch (fold) {
    case Fold::sum: return fold_middle_by<Sum>(x, outer, n, inner, y);
    case Fold::max: return fold_middle_by<Max>(x, outer, n, inner, y);
    case Fold::min: return fold_middle_by<Min>(x, outer, n, inner, y);
  }
}

Array fold_axes(Fold fold, const Array& x, const AxisFlags& axes) {
  const auto flagged = [&](int axis) { return at(axes, axis); };
  Array result = x;
  Index inner = 1;
  // From the last axis to the first, one run of adjacent flagged axes after the other.
  for (int axis = x.rank() - 1; axis >= 0;) {
    if (!flagged(axis)) {
      inner *= x.dim(axis--);
      continue;
    }
    Shape shape = result.shape();
    Index n = 1;
    for (; axis >= 0 && flagged(axis); --axis) {
      n *= x.dim(axis);
      shape.set(axis, 1);
    }
    Index outer = 1;
    for (int i = 0; i <= axis; ++i) outer *= x.dim(i);
    Array folded(shape);
    fold_middle(fold, result.data(), outer, n, inner, folded.data());
    result = folded;
  }
  return result;
}

Array sum_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  AxisFlags repeated{};
  const int missing = x.rank() - shape.rank();
  for (int axis = 0; axis < x.rank(); ++axis) {
    at(repeated, axis) = axis < missing || (shape[axis - missing] == 1 && x.dim(axis) != 1);
  }
  return fold_axes(Fold::sum, x, repeated).reshaped(shape);
}

Array column_sums(const Array& x) { return sum_to(x, Shape{x.dim(-1)}); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
