// Rows of the operations that move elements.
#include "headroom/ops/shaping.hpp"

#include <algorithm>
#include <numeric>

#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

/// A fault that keeps the memory order of dy instead of moving its elements.
Fault only_reshaped(std::string name) {
  return {std::move(name),
          [](const BackwardView& b) { return Arrays{b.dy.clone().reshaped(b.x[0].shape())}; }};
}

Fault reversed(std::string name) {
  return {std::move(name), [](const BackwardView& b) {
            Array dx(b.x[0].shape());
            std::reverse_copy(b.dy.data(), b.dy.data() + b.dy.size(), dx.data());
            return Arrays{dx};
          }};
}

/// Returns y with y[j] = x[from(j)] along `axis` for j < length, and 0 where from(j) is negative.
template <class From>
Array along(const Array& x, int axis, Index length, From from) {
  const int a = x.shape().axis_index(axis);
  Index inner = 1;
  for (int i = a + 1; i < x.rank(); ++i) inner *= x.dim(i);
  Array y = zeros(x.shape().with(a, length));
  for (Index e = 0; e < y.size(); ++e) {
    const Index j = e / inner % length, outer = e / inner / length;
    const Index source = from(j);
    if (source >= 0) y[e] = x[(outer * x.dim(a) + source) * inner + e % inner];
  }
  return y;
}

/// Permutes the axes of x, element by element of the result.
Array permuted(const Array& x, const std::vector<int>& order) {
  Shape shape;
  for (const int axis : order) shape.push_back(x.dim(axis));
  Array y(shape);
  for (Index e = 0; e < y.size(); ++e) {
    std::vector<Index> place(order.size());
    Index rest = e;
    for (int i = x.rank() - 1; i >= 0; --i) {
      place[static_cast<std::size_t>(x.shape().axis_index(order[static_cast<std::size_t>(i)]))] =
          rest % shape[i];
      rest /= shape[i];
    }
    Index source = 0;
    for (int i = 0; i < x.rank(); ++i) {
      source = source * x.dim(i) + place[static_cast<std::size_t>(i)];
    }
    y[e] = x[source];
  }
  return y;
}

int draw_axis(Draw& draw, const Shape& shape) {
  const auto axis = int(draw.rng.below(shape.rank()));
  return draw.chance(0.5) ? axis : axis - shape.rank();
}

Case draw_reshape(Draw& draw, bool by_sizes) {
  const Shape from = draw.shape();
  // The axes in reverse order, padded to three with 1; sometimes two of them are merged.
  std::vector<Index> sizes(from.begin(), from.end());
  std::reverse(sizes.begin(), sizes.end());
  sizes.resize(3, 1);
  if (draw.chance(0.5)) {
    sizes[1] *= sizes[0];
    sizes[0] = 1;
  }
  const Shape to{std::span<const Index>(sizes)};
  if (to.size() > 0) sizes[static_cast<std::size_t>(draw.rng.below(3))] = -1;  // to be inferred
  return {{normal(from, draw.rng)},
          [=](const Tensors& x) {
            return by_sizes ? reshape(x[0], {sizes[0], sizes[1], sizes[2]}) : reshape(x[0], to);
          },
          [=](const Arrays& x) { return x[0].reshaped(to); },
          nullptr,
          {reversed("the elements come back in reverse order")}};
}

Case draw_permute(Draw& draw) {
  const Shape shape = draw.shape(0, 4);
  std::vector<int> order(static_cast<std::size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw.rng.below(Index(i)))]);
  }
  return {{normal(shape, draw.rng)},
          [=](const Tensors& x) { return permute(x[0], order); },
          [=](const Arrays& x) { return permuted(x[0], order); },
          nullptr,
          {only_reshaped("reshaped, not permuted back"),
           {"permuted by the order, not by its inverse", [=](const BackwardView& b) {
              return Arrays{permuted(b.dy, order).reshaped(b.x[0].shape())};
            }}}};
}

Case draw_transpose(Draw& draw) {
  const Shape shape = draw.shape(2, 4);
  const int a = draw_axis(draw, shape), b = draw_axis(draw, shape);
  std::vector<int> order(static_cast<std::size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(shape.axis_index(a))],
            order[static_cast<std::size_t>(shape.axis_index(b))]);
  return {{normal(shape, draw.rng)},
          [=](const Tensors& x) { return transpose(x[0], a, b); },
          [=](const Arrays& x) { return permuted(x[0], order); },
          nullptr,
          {only_reshaped("reshaped, not transposed")}};
}

Case draw_slice(Draw& draw) {
  const Shape shape = draw.shape(1);
  const int axis = draw_axis(draw, shape);
  const Index size = shape[axis];
  const Index begin = draw.between(0, size), end = draw.between(begin, size);
  return {
      {normal(shape, draw.rng)},
      [=](const Tensors& x) { return slice(x[0], axis, begin, end); },
      [=](const Arrays& x) {
        return along(x[0], axis, end - begin, [=](Index j) { return begin + j; });
      },
      nullptr,
      {{"put back at the beginning of the axis",
        [=](const BackwardView& b) {
          return Arrays{along(b.dy, axis, size, [=](Index j) { return j < end - begin ? j : -1; })};
        }},
       {"put back at the end of the axis", [=](const BackwardView& b) {
          const Index gap = size - (end - begin);
          return Arrays{along(b.dy, axis, size, [=](Index j) { return j - gap; })};
        }}}};
}

/// Several tensors that differ in size along one axis only.
struct Parts {
  int axis = 0;
  Arrays arrays;
  std::vector<Index> sizes, begins;
  Index total = 0;
};

Parts draw_parts(Draw& draw) {
  const Shape shape = draw.shape(1);
  Parts parts;
  parts.axis = draw_axis(draw, shape);
  for (Index i = 0, n = draw.between(1, 3); i < n; ++i) {
    const Index size = draw.chance(0.3) ? shape[parts.axis] : draw.size();
    parts.arrays.push_back(normal(shape.with(parts.axis, size), draw.rng));
    parts.sizes.push_back(size);
    parts.begins.push_back(parts.total);
    parts.total += size;
  }
  return parts;
}

/// The part that element j belongs to, and the position of j in that part.
std::pair<std::size_t, Index> find_part(const Parts& parts, Index j) {
  std::size_t part = 0;
  while (j >= parts.begins[part] + parts.sizes[part]) ++part;
  return {part, j - parts.begins[part]};
}

Case draw_concat(Draw& draw) {
  const Parts parts = draw_parts(draw);
  const auto pieces = [parts](const Array& dy, auto begin_of) {
    Arrays result;
    for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
      const Index begin = begin_of(i);
      result.push_back(along(dy, parts.axis, parts.sizes[i], [=](Index j) { return begin + j; }));
    }
    return result;
  };
  return {parts.arrays,
          [parts](const Tensors& x) { return concat(x, parts.axis); },
          [parts](const Arrays& x) {
            Array y = zeros(x[0].shape().with(parts.axis, parts.total));
            for (std::size_t i = 0; i < x.size(); ++i) {
              const Array placed = along(x[i], parts.axis, parts.total, [&](Index j) {
                const auto [part, place] = find_part(parts, j);
                return part == i ? place : -1;
              });
              for (Index e = 0; e < y.size(); ++e) y[e] += placed[e];
            }
            return y;
          },
          nullptr,
          {{"every part reads from the beginning",
            [=](const BackwardView& b) { return pieces(b.dy, [](std::size_t) { return 0; }); }},
           {"the parts read in reverse order", [=](const BackwardView& b) {
              return pieces(b.dy, [&](std::size_t i) {
                return parts.total - parts.begins[i] - parts.sizes[i];
              });
            }}}};
}

Case draw_stack(Draw& draw) {
  const Shape shape = draw.shape(0, 2);
  const auto axis = int(draw.rng.below(shape.rank() + 1));
  const Index count = draw.between(1, 3);
  Arrays arrays;
  for (Index i = 0; i < count; ++i) arrays.push_back(normal(shape, draw.rng));
  const int axis_as_named = draw.chance(0.5) ? axis : axis - shape.rank() - 1;
  const auto piece = [=](const Array& dy, Index i) {
    return along(dy, axis, 1, [i](Index) { return i; }).reshaped(shape);
  };
  return {arrays,
          [=](const Tensors& x) { return stack(x, axis_as_named); },
          [=](const Arrays& x) {
            Array y = zeros(shape.inserted(axis, count));
            for (Index i = 0; i < count; ++i) {
              const Array layer = x[static_cast<std::size_t>(i)].reshaped(shape.inserted(axis, 1));
              const Array placed =
                  along(layer, axis, count, [i](Index j) { return j == i ? 0 : -1; });
              for (Index e = 0; e < y.size(); ++e) y[e] += placed[e];
            }
            return y;
          },
          nullptr,
          {{"all get the first one's gradient",
            [=](const BackwardView& b) {
              return Arrays(static_cast<std::size_t>(count), piece(b.dy, 0));
            }},
           {"in reverse order", [=](const BackwardView& b) {
              Arrays result;
              for (Index i = 0; i < count; ++i) result.push_back(piece(b.dy, count - 1 - i));
              return result;
            }}}};
}

/// Concatenates the parts of a split in reverse order, so that the result depends on each.
Case draw_split(Draw& draw) {
  const Parts parts = draw_parts(draw);
  const Shape shape = parts.arrays[0].shape().with(parts.axis, parts.total);
  // The source of element j of the result: the parts are reversed, the order in each is kept.
  const auto source = [parts](Index j) {
    Index begin = 0;
    for (std::size_t part = parts.sizes.size(); part-- > 0;) {
      if (j < begin + parts.sizes[part]) return parts.begins[part] + j - begin;
      begin += parts.sizes[part];
    }
    return Index{-1};
  };
  return {{normal(shape, draw.rng)},
          [parts](const Tensors& x) {
            Tensors pieces = split(x[0], parts.sizes, parts.axis);
            std::reverse(pieces.begin(), pieces.end());
            return concat(pieces, parts.axis);
          },
          [=](const Arrays& x) { return along(x[0], parts.axis, parts.total, source); },
          nullptr,
          {only_reshaped("the pieces' offsets are ignored")}};
}

Case draw_gather(Draw& draw) {
  Shape shape = draw.shape(1);
  const int axis = draw_axis(draw, shape);
  if (shape[axis] == 0) shape.set(axis, 2);
  const Index count = draw.size();
  const Ids positions = random_ids({count}, draw.rng, shape[axis]);
  const auto last_of = [positions](Index j) {
    for (Index i = positions.size() - 1; i >= 0; --i) {
      if (positions[i] == j) return i;
    }
    return Index{-1};
  };
  return {{normal(shape, draw.rng)},
          [=](const Tensors& x) { return gather(x[0], axis, positions); },
          [=](const Arrays& x) {
            return along(x[0], axis, count, [&](Index j) { return Index{positions[j]}; });
          },
          nullptr,
          {{"of equal positions the last one overwrites",
            [=](const BackwardView& b) { return Arrays{along(b.dy, axis, shape[axis], last_of)}; }},
           {"put back in order, not at the positions", [=](const BackwardView& b) {
              return Arrays{
                  along(b.dy, axis, shape[axis], [=](Index j) { return j < count ? j : -1; })};
            }}}};
}

}  // namespace

std::vector<Row> shaping_rows() {
  return {{"reshape to sizes", "reshape", [](Draw& draw) { return draw_reshape(draw, true); }},
          {"reshape to a shape", "reshape", [](Draw& draw) { return draw_reshape(draw, false); }},
          {"permute", "permute", draw_permute},
          {"transpose", "transpose", draw_transpose},
          {"slice", "slice", draw_slice},
          {"concat", "concat", draw_concat},
          {"stack", "stack", draw_stack},
          {"split", "split", draw_split},
          {"gather", "gather", draw_gather}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
