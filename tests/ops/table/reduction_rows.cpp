// Rows of the reductions.
#include "headroom/ops/reductions.hpp"

#include <algorithm>

#include "headroom/ops/composed.hpp"
#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

/// A random call of a reduction.
struct Reduced {
  Shape shape;
  Axes axes;
  bool keep = false;

  bool over(int axis) const {
    return axes.empty() || std::any_of(axes.begin(), axes.end(),
                                       [&](int named) { return shape.axis_index(named) == axis; });
  }
  /// The result's shape with and without the reduced axes.
  Shape kept() const {
    Shape result = shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (over(axis)) result.set(axis, 1);
    }
    return result;
  }
  Shape result() const {
    if (keep) return kept();
    Shape dropped;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (!over(axis)) dropped.push_back(shape[axis]);
    }
    return dropped;
  }
  /// Number of elements that each result reduces.
  Index count() const { return kept().size() == 0 ? 0 : shape.size() / kept().size(); }
};

Reduced draw_reduced(Draw& draw, bool nothing_allowed) {
  Reduced call;
  call.shape = draw.shape();
  call.keep = draw.chance(0.4);
  for (int axis = 0; axis < call.shape.rank(); ++axis) {
    if (draw.chance(0.5)) call.axes.push_back(draw.chance(0.5) ? axis : axis - call.shape.rank());
  }
  if (draw.chance(0.3)) std::reverse(call.axes.begin(), call.axes.end());
  for (int axis = 0; axis < call.shape.rank() && !nothing_allowed; ++axis) {
    if (call.over(axis)) call.shape.set(axis, std::max<Index>(1, call.shape[axis]));
    if (!call.over(axis) && !draw.large() && draw.chance(0.2)) call.shape.set(axis, 0);
  }
  return call;
}

template <class Combine>
Array reduce(const Reduced& call, const Array& x, Long start, Combine combine) {
  const Shape kept = call.kept();
  std::vector<Long> sums(static_cast<std::size_t>(kept.size()), start);
  for (Index e = 0; e < x.size(); ++e) {
    Long& sum = sums[static_cast<std::size_t>(broadcast_index(kept, x.shape(), e))];
    sum = combine(sum, static_cast<Long>(x[e]));
  }
  Array y(call.result());
  for (Index e = 0; e < y.size(); ++e) y[e] = Real(sums[static_cast<std::size_t>(e)]);
  return y;
}

/// A fault that gives each element dy times weight(x, y), with first_only to the first one only.
template <class Weight>
Fault spread(const Reduced& call, std::string name, Weight weight, bool first_only = false) {
  return {std::move(name), [=](const BackwardView& b) {
            const Shape kept = call.kept();
            std::vector<bool> seen(static_cast<std::size_t>(kept.size()));
            Array dx(call.shape);
            for (Index e = 0; e < dx.size(); ++e) {
              const Index r = broadcast_index(kept, call.shape, e);
              const bool first = !seen[static_cast<std::size_t>(r)];
              seen[static_cast<std::size_t>(r)] = true;
              dx[e] = first_only && !first ? 0 : b.dy[r] * weight(b.x[0][e], b.y[r]);
            }
            return Arrays{dx};
          }};
}

Real one(Real, Real) { return 1; }

Case draw_sum(Draw& draw) {
  const Reduced call = draw_reduced(draw, true);
  const Real share = Real(1) / Real(std::max<Index>(1, call.count()));
  return {{normal(call.shape, draw.rng)},
          [call](const Tensors& x) { return sum(x[0], call.axes, call.keep); },
          [call](const Arrays& x) {
            return reduce(call, x[0], 0, [](Long s, Long v) { return s + v; });
          },
          nullptr,
          {spread(call, "only the first of each gets the gradient", one, true),
           spread(call, "divided by the count", [share](Real, Real) { return share; })}};
}

Case draw_mean(Draw& draw) {
  const Reduced call = draw_reduced(draw, false);
  const auto count = static_cast<Long>(std::max<Index>(1, call.count()));
  const Real all = Real(1) / Real(std::max<Index>(1, call.shape.size()));
  return {
      {normal(call.shape, draw.rng)},
      [call](const Tensors& x) { return mean(x[0], call.axes, call.keep); },
      [call, count](const Arrays& x) {
        return reduce(call, x[0], 0, [count](Long s, Long v) { return s + v / count; });
      },
      [call](const Tensors& x) { return composed::mean(x[0], call.axes, call.keep); },
      {spread(call, "the scale 1/n is missing", one),
       spread(call, "divided by the size of the whole tensor", [all](Real, Real) { return all; })}};
}

template <class Reduction, class Combine>
Case draw_extreme(Draw& draw, Reduction reduction, Long start, Combine combine) {
  const Reduced call = draw_reduced(draw, false);
  const Real share = Real(1) / Real(std::max<Index>(1, call.count()));
  return {{distinct(call.shape, draw.rng)},
          [=](const Tensors& x) { return reduction(x[0], call.axes, call.keep); },
          [=](const Arrays& x) { return reduce(call, x[0], start, combine); },
          nullptr,
          {spread(call, "the first gets the gradient, not the extreme", one, true),
           spread(call, "all share the gradient", [share](Real, Real) { return share; })}};
}

}  // namespace

std::vector<Row> reduction_rows() {
  return {{"sum", "sum", draw_sum},
          {"mean", "mean", draw_mean},
          {"max", "max",
           [](Draw& draw) {
             return draw_extreme(
                 draw, [](const Tensor& x, const Axes& a, bool keep) { return max(x, a, keep); },
                 -1e30L, [](Long a, Long b) { return std::max(a, b); });
           }},
          {"min", "min", [](Draw& draw) {
             return draw_extreme(
                 draw, [](const Tensor& x, const Axes& a, bool keep) { return min(x, a, keep); },
                 1e30L, [](Long a, Long b) { return std::min(a, b); });
           }}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
