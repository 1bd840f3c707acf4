// Operations that move elements: reshape, permute, slice, concat, gather and their relatives.
#include "headroom/ops/shaping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>

#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "kernels/gather.hpp"
#include "kernels/permute.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The sizes as a shape, with the one that is -1 worked out.
Shape with_free_size(const char* op, const Shape& from, std::initializer_list<Index> sizes) {
  const auto free_size = std::find(sizes.begin(), sizes.end(), -1);
  Shape shape;
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (*size < 0 && size != free_size) {
      throw ShapeError(
          fmt::format("{}: sizes [{}]; one may be -1, none below", op, fmt::join(sizes, ", ")));
    }
    shape.push_back(size == free_size ? 1 : *size);
  }
  if (free_size == sizes.end()) return shape;
  const Index known = shape.size();
  if (known == 0 || from.size() % known != 0) {
    throw ShapeError(fmt::format("{}: no size for -1 makes [{}] hold the {} elements of {}", op,
                                 fmt::join(sizes, ", "), from.size(), from.text()));
  }
  return shape.with(int(free_size - sizes.begin()), from.size() / known);
}

}  // namespace

Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes) {
  return reshape(x, with_free_size("reshape", x.shape(), sizes));
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  OpScope op("reshape");
  if (shape.size() != x.size()) {
    throw ShapeError(fmt::format("{}: the {} elements of {} do not fill {}, which takes {}",
                                 op.name(), x.size(), x.shape().text(), shape.text(),
                                 shape.size()));
  }
  return record(
      op, x.value().reshaped(shape), {x},
      [before = x.shape()](const Array& dy, Gradients& into) { into[0] += dy.reshaped(before); });
}

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  OpScope op("permute");
  const int rank = x.rank();
  std::array<int, Shape::max_rank> forth{}, back{};
  std::array<bool, Shape::max_rank> used{};
  const auto refuse = [&] {
    throw ShapeError(fmt::format("{}: [{}] is not an order of the {} axes of {}", op.name(),
                                 fmt::join(order, ", "), rank, x.shape().text()));
  };
  if (int(order.size()) != rank) refuse();
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const int named = at(order, i);
    const int axis = named < 0 ? named + rank : named;
    if (axis < 0 || axis >= rank || at(used, axis)) refuse();
    at(used, axis) = true;
    at(forth, i) = axis;
    at(back, axis) = i;
    shape.push_back(x.dim(axis));
  }
  const auto axes = static_cast<std::size_t>(rank);
  Array y(shape);
  permute_axes(x.value().data(), x.shape(), std::span(forth).first(axes), y.data());
  return record(op, y, {x}, [before = x.shape(), back, axes](const Array& dy, Gradients& into) {
    Array dx(before);
    permute_axes(dy.data(), dy.shape(), std::span(back).first(axes), dx.data());
    into[0] += dx;
  });
}

Tensor transpose(const Tensor& x, int a, int b) {
  std::vector<int> order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(checked_axis("transpose", x.shape(), a))],
            order[static_cast<std::size_t>(checked_axis("transpose", x.shape(), b))]);
  return permute(x, order);
}

Tensor slice(const Tensor& x, int axis, Index begin, Index end) {
  OpScope op("slice");
  Array y = slice(x.value(), {axis, begin, end});
  const AxisRange range{x.shape().axis_index(axis), begin, end};
  return record(op, y, {x}, [runs = runs_of(x.shape(), range)](const Array& dy, Gradients& into) {
    if (!into[0].wanted()) return;
    add_block(dy.data(), runs.length, runs.count, runs.length, into[0].sum().data() + runs.first,
              runs.stride);
  });
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  OpScope op("concat");
  std::vector<Array> values;
  for (const Tensor& part : parts) values.push_back(part.value());
  Array y = concat(values, axis);
  axis = y.shape().axis_index(axis);
  std::vector<Index> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.dim(axis));
  return record(op, y, parts, [sizes, axis](const Array& dy, Gradients& into) {
    Index begin = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (into[i].wanted()) into[i] += slice(dy, {axis, begin, begin + sizes[i]});
      begin += sizes[i];
    }
  });
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) throw ShapeError("stack: no parts; at least 1 is needed");
  const Shape& first = parts[0].shape();
  const int where = axis < 0 ? axis + first.rank() + 1 : axis;
  if (where < 0 || where > first.rank()) {
    throw ShapeError(
        fmt::format("stack: parts of shape {} have no place for axis {}", first.text(), axis));
  }
  std::vector<Tensor> widened;
  for (const Tensor& part : parts) {
    if (!(part.shape() == first)) {
      throw ShapeError(fmt::format("stack: shapes {} and {} differ; all parts must be equal",
                                   first.text(), part.shape().text()));
    }
    widened.push_back(reshape(part, first.inserted(where, 1)));
  }
  return concat(widened, where);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, int axis) {
  axis = checked_axis("split", x.shape(), axis);
  const Index total = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  if (total != x.dim(axis) ||
      std::any_of(sizes.begin(), sizes.end(), [](Index n) { return n < 0; })) {
    throw ShapeError(fmt::format("split: sizes [{}] do not add up to axis {} of {}, which has {}",
                                 fmt::join(sizes, ", "), axis, x.shape().text(), x.dim(axis)));
  }
  std::vector<Tensor> pieces;
  Index begin = 0;
  for (const Index size : sizes) {
    pieces.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  return pieces;
}

Tensor gather(const Tensor& x, int axis, const Ids& positions) {
  OpScope op("gather");
  Array y = gather(x.value(), axis, positions);
  const AxisView in(x.shape(), x.shape().axis_index(axis));
  return record(op, y, {x}, [in, positions](const Array& dy, Gradients& into) {
    if (!into[0].wanted()) return;
    scatter_add_rows(dy.data(), in.outer, in.length, in.inner, positions.data(), positions.size(),
                     into[0].sum().data());
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
