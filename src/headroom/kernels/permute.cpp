// Permutation of axes: rows where the last axis stays last, blocks where it does not.
#include "kernels/permute.hpp"

#include <algorithm>
#include <array>

#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// One loop over y: its length, and how far it moves in x and in y.
struct Loop {
  Index size, x_stride, y_stride;
};

/// The loops over y, outermost first; axes of size 1 dropped, adjacent ones merged where possible.
struct Loops {
  std::array<Loop, Shape::max_rank> list{};
  std::size_t count = 0;

  Loop& back() { return list[count - 1]; }
  void remove(std::size_t i) {
    std::move(list.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              list.begin() + static_cast<std::ptrdiff_t>(count),
              list.begin() + static_cast<std::ptrdiff_t>(i));
    --count;
  }
  Index repetitions() const {
    Index n = 1;
    for (std::size_t i = 0; i < count; ++i) n *= list[i].size;
    return n;
  }
};

Loops plan_loops(const Shape& shape, std::span<const int> order) {
  std::array<Index, Shape::max_rank> x_strides{};
  Index stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at(x_strides, axis) = stride;
    stride *= shape[axis];
  }
  Loops loops;
  for (const int axis : order) {
    const Index size = shape[axis], x_stride = at(x_strides, axis);
    if (size == 1) continue;
    if (loops.count > 0 && loops.back().x_stride == x_stride * size) {
      loops.back().size *= size;
      loops.back().x_stride = x_stride;
    } else {
      loops.list[loops.count++] = {size, x_stride, 0};
    }
  }
  if (loops.count == 0) loops.list[loops.count++] = {1, 1, 0};
  Index y_stride = 1;
  for (std::size_t i = loops.count; i-- > 0;) {
    loops.list[i].y_stride = y_stride;
    y_stride *= loops.list[i].size;
  }
  return loops;
}

/// Offsets of iteration `i` of some loops.
struct Start {
  Index x = 0, y = 0;
};
Start start_of(const Loops& loops, Index i) {
  Start start;
  for (std::size_t at = loops.count; at-- > 0;) {
    const Loop& loop = loops.list[at];
    start.x += i % loop.size * loop.x_stride;
    start.y += i % loop.size * loop.y_stride;
    i /= loop.size;
  }
  return start;
}

/// The last axis stays last: rows are copied whole.
void copy_rows_of(const Real* x, Loops loops, Real* y) {
  const Index width = loops.back().size;
  loops.remove(loops.count - 1);
  if (loops.count == 0) {  // nothing moves
    parallel_for(width, 65536,
                 [&](Index begin, Index end) { std::copy(x + begin, x + end, y + begin); });
    return;
  }
  parallel_for(loops.repetitions(), grain_for(width), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      std::copy_n(x + start_of(loops, row).x, width, y + row * width);
    }
  });
}

/// y[r, c] = x[c, r] for strips of rows of y, in blocks that fit the first cache.
void transpose_strips(const Real* x, Loops loops, Real* y) {
  constexpr Index block = 16;
  const Loop columns = loops.back();  // consecutive in y
  loops.remove(loops.count - 1);
  std::size_t consecutive_in_x = 0;
  while (loops.list[consecutive_in_x].x_stride != 1) ++consecutive_in_x;
  const Loop rows = loops.list[consecutive_in_x];
  loops.remove(consecutive_in_x);

  const Index strips = (rows.size + block - 1) / block;
  const Index items = loops.repetitions() * strips;
  parallel_for(items, grain_for(block * columns.size), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Start start = start_of(loops, item / strips);
      const Index first = item % strips * block, last = std::min(rows.size, first + block);
      for (Index c0 = 0; c0 < columns.size; c0 += block) {
        const Index c1 = std::min(columns.size, c0 + block);
        for (Index r = first; r < last; ++r) {
          const Real* const from = x + start.x + r;
          Real* const to = y + start.y + r * rows.y_stride;
          for (Index c = c0; c < c1; ++c) to[c] = from[c * columns.x_stride];
        }
      }
    }
  });
}

}  // namespace

void permute_axes(const Real* x, const Shape& shape, std::span<const int> order, Real* y) {
  if (shape.size() == 0) return;
  Loops loops = plan_loops(shape, order);
  if (loops.back().x_stride == 1) {
    copy_rows_of(x, loops, y);
  } else {
    transpose_strips(x, loops, y);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
