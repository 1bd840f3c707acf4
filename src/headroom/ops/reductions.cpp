// Sums, means and extremes over axes.
#include "headroom/ops/reductions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "array/map.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "kernels/broadcast.hpp"
#include "kernels/reduce.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A reduction's axes, resolved for one shape.
struct ReductionPlan {
  AxisFlags flags{};
  Index count = 1;      // elements that are folded into one
  Shape kept, dropped;  // the result's shape with size 1 for the reduced axes, and without them
};

ReductionPlan plan_reduction(const char* op, const Shape& shape, const Axes& axes) {
  ReductionPlan plan;
  if (axes.empty()) plan.flags.fill(true);
  for (const int axis : axes) {
    const int index = axis < 0 ? axis + shape.rank() : axis;
    if (index < 0 || index >= shape.rank()) {
      throw ShapeError(
          fmt::format("{}: axis {} does not exist in shape {}", op, axis, shape.text()));
    }
    bool& flag = at(plan.flags, index);
    if (flag) {
      throw ShapeError(fmt::format("{}: axis {} of shape {} is named twice in [{}]", op, index,
                                   shape.text(), fmt::join(axes, ", ")));
    }
    flag = true;
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool reduced = at(plan.flags, axis);
    if (reduced) plan.count *= shape[axis];
    if (!reduced) plan.dropped.push_back(shape[axis]);
    plan.kept.push_back(reduced ? 1 : shape[axis]);
  }
  return plan;
}

void refuse_empty(const char* op, const ReductionPlan& plan, const Shape& shape) {
  if (plan.count == 0) {
    throw ShapeError(
        fmt::format("{}: shape {} has nothing to reduce: an axis is empty", op, shape.text()));
  }
}

/// max and min: every element that equals the extreme gets the same share of the gradient.
Tensor extreme(const OpScope& op, Fold fold, const Tensor& x, const Axes& axes, bool keep) {
  const ReductionPlan plan = plan_reduction(op.name(), x.shape(), axes);
  refuse_empty(op.name(), plan, x.shape());
  const Array y = fold_axes(fold, x.value(), plan.flags);
  return record(op, y.reshaped(keep ? plan.kept : plan.dropped), {x},
                [x = x.value(), y, flags = plan.flags](const Array& dy, Gradients& into) {
                  const auto equal = [](Real v, Real best) { return Real(v == best ? 1 : 0); };
                  const Array winners = broadcast_map(x.shape(), equal, x, y);
                  const Array share =
                      map([](const auto& d, const auto& n) { return d / n; },
                          dy.reshaped(y.shape()), fold_axes(Fold::sum, winners, flags));
                  const auto product = [](Real w, Real d) { return w * d; };
                  into[0] += broadcast_map(x.shape(), product, winners, share);
                });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep) {
  OpScope op("sum");
  const ReductionPlan plan = plan_reduction(op.name(), x.shape(), axes);
  const Array y = fold_axes(Fold::sum, x.value(), plan.flags);
  return record(op, y.reshaped(keep ? plan.kept : plan.dropped), {x},
                [shape = x.shape(), kept = plan.kept](const Array& dy, Gradients& into) {
                  into[0] += broadcast_to(dy.reshaped(kept), shape);
                });
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep) {
  OpScope op("mean");
  const ReductionPlan plan = plan_reduction(op.name(), x.shape(), axes);
  refuse_empty(op.name(), plan, x.shape());
  const Real n = Real(plan.count);
  const Array y = map([n](const auto& total) { return total / n; },
                      fold_axes(Fold::sum, x.value(), plan.flags));
  return record(op, y.reshaped(keep ? plan.kept : plan.dropped), {x},
                [shape = x.shape(), kept = plan.kept, n](const Array& dy, Gradients& into) {
                  const Array share = map([n](const auto& d) { return d / n; }, dy);
                  into[0] += broadcast_to(share.reshaped(kept), shape);
                });
}

Tensor max(const Tensor& x, const Axes& axes, bool keep) {
  return extreme(OpScope("max"), Fold::max, x, axes, keep);
}

Tensor min(const Tensor& x, const Axes& axes, bool keep) {
  return extreme(OpScope("min"), Fold::min, x, axes, keep);
}

Ids argmax(const Array& x) {
  if (x.rank() == 0 || x.dim(-1) == 0) {
    throw ShapeError(
        fmt::format("argmax: shape {} has no last axis with elements", x.shape().text()));
  }
  const Index n = x.dim(-1);
  Ids best(x.shape().without(-1));
  for (Index row = 0; row < best.size(); ++row) {
    const Real* const numbers = x.data() + row * n;
    best[row] = static_cast<std::int32_t>(std::max_element(numbers, numbers + n) - numbers);
  }
  return best;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
