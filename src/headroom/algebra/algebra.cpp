// Algebra of Arrays over the kernels.
#include "headroom/algebra/algebra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "algebra/products.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/base/op_scope.hpp"
#include "kernels/gather.hpp"
#include "kernels/gemm.hpp"
#include "kernels/permute.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Shape leading_axes(const Shape& shape) { return shape.without(-1).without(-1); }

}  // namespace

Array slice(const Array& x, const AxisRange& range) {
  const int axis = checked_axis("slice", x.shape(), range.axis);
  const auto [named, begin, end] = range;
  if (begin < 0 || begin > end || end > x.dim(axis)) {
    throw ShapeError(fmt::format("slice: [{}, {}) is outside axis {} of {}, which has {}", begin,
                                 end, axis, x.shape().text(), x.dim(axis)));
  }
  const Runs runs = runs_of(x.shape(), {axis, begin, end});
  Array y(x.shape().with(axis, range.length()));
  copy_block(x.data() + runs.first, runs.stride, runs.count, runs.length, y.data(), runs.length);
  return y;
}

Array concat(const std::vector<Array>& parts, int axis) {
  if (parts.empty()) throw ShapeError("concat: no parts; at least 1 is needed");
  const Shape& first = parts[0].shape();
  axis = checked_axis("concat", first, axis);
  Index total = 0;
  for (const Array& part : parts) {
    if (part.rank() != first.rank() || !(part.shape().with(axis, first[axis]) == first)) {
      throw ShapeError(fmt::format("concat: shapes {} and {} differ outside of axis {}",
                                   first.text(), part.shape().text(), axis));
    }
    total += part.dim(axis);
  }
  Array y(first.with(axis, total));
  Index begin = 0;
  for (const Array& part : parts) {
    const Runs runs = runs_of(y.shape(), {axis, begin, begin + part.dim(axis)});
    copy_block(part.data(), runs.length, runs.count, runs.length, y.data() + runs.first,
               runs.stride);
    begin += part.dim(axis);
  }
  return y;
}

Array gather(const Array& x, int axis, const Ids& positions) {
  axis = checked_axis("gather", x.shape(), axis);
  if (positions.rank() != 1) {
    throw ShapeError(
        fmt::format("gather: positions {} must have one axis", positions.shape().text()));
  }
  const AxisView in(x.shape(), axis);
  for (const std::int32_t position : positions.span()) {
    if (position < 0 || position >= in.length) {
      throw ShapeError(fmt::format("gather: position {} is outside axis {} of {}, which has {}",
                                   position, axis, x.shape().text(), in.length));
    }
  }
  Array y(x.shape().with(axis, positions.size()));
  gather_rows(x.data(), in.outer, in.length, in.inner, positions.data(), positions.size(),
              y.data());
  return y;
}

Array gather(const Array& x, int axis, std::span<const Index> positions) {
  Ids ids({std::ssize(positions)});
  std::transform(positions.begin(), positions.end(), ids.data(),
                 [](Index position) { return static_cast<std::int32_t>(position); });
  return gather(x, axis, ids);
}

template <class T>
ArrayOf<T> pick_rows(const ArrayOf<T>& x, std::span<const Index> rows) {
  ArrayOf<T> picked(x.shape().with(0, std::ssize(rows)));
  const Index each = x.dim(0) == 0 ? 0 : x.size() / x.dim(0);
  T* to = picked.data();
  for (const Index row : rows) to = std::copy_n(x.data() + row * each, each, to);
  return picked;
}
template Array pick_rows(const Array&, std::span<const Index>);
template Ids pick_rows(const Ids&, std::span<const Index>);

Array transposed(const Array& x, int a, int b) {
  std::array<int, Shape::max_rank> order{};
  std::iota(order.begin(), order.end(), 0);
  a = checked_axis("transposed", x.shape(), a);
  b = checked_axis("transposed", x.shape(), b);
  std::swap(order.at(static_cast<std::size_t>(a)), order.at(static_cast<std::size_t>(b)));
  Array y(x.shape().with(a, x.dim(b)).with(b, x.dim(a)));
  permute_axes(x.data(), x.shape(), std::span(order).first(static_cast<std::size_t>(x.rank())),
               y.data());
  return y;
}

Products plan_products(const char* op, const Shape& a, const Shape& b) {
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError(
        fmt::format("{}: shapes {} and {}; both need at least two axes", op, a.text(), b.text()));
  }
  if (a[-1] != b[-2]) {
    throw ShapeError(fmt::format("{}: a {} has {} columns but b {} has {} rows", op, a.text(),
                                 a[-1], b.text(), b[-2]));
  }
  Products p;
  const Shape a_leading = leading_axes(a), b_leading = leading_axes(b);
  p.m = a[-2], p.n = b[-1], p.k = a[-1];
  if (b_leading.size() == 1 && b.rank() <= a.rank()) {
    // One b for all: the rows of all matrices of a are contiguous already.
    p.leading = a_leading;
    p.m *= a_leading.size();
    p.batches = 1;
    p.plan = plan_broadcast({}, {{}, {}});
    p.each_once = true;
    return p;
  }
  p.leading = broadcast(op, a_leading, b_leading);
  p.batches = p.leading.size();
  p.plan = plan_broadcast(p.leading, {a_leading, b_leading});
  p.each_once = a_leading.size() == p.batches && b_leading.size() == p.batches;
  return p;
}

Array matmul(const Array& a, const Array& b) {
  const Products p = plan_products("matmul", a.shape(), b.shape());
  Shape shape = p.leading;
  shape.push_back(a.dim(-2));
  shape.push_back(b.dim(-1));
  Array y(shape);
  if (const OpScope* op = OpScope::current()) op->work(p.flops(), 0);
  for_each_product(p, true, [&](Index batch, Index in_a, Index in_b) {
    gemm(p.m, p.n, p.k, Real(1), {a.data() + in_a * p.m * p.k, p.k},
         {b.data() + in_b * p.k * p.n, p.n}, Real(0), y.data() + batch * p.m * p.n, p.n);
  });
  return y;
}

double max_abs(const Array& x) {
  double most = 0;
  for (const Real element : x.span()) most = larger(most, std::abs(double(element)));
  return most;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
