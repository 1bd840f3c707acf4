// Broadcasting: which loops are needed, and walking them.
#include "kernels/broadcast.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

/// Strides of a contiguous array along the axes of `result`, 0 where it is repeated.
BroadcastPlan::Counts strides_along(const Shape& result, const Shape& input) {
  BroadcastPlan::Counts strides{};
  Index stride = 1;
  for (int from_end = 1; from_end <= input.rank(); ++from_end) {
    const Index size = input[-from_end];
    strides[index(result.rank() - from_end)] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}
}  // namespace

BroadcastPlan plan_broadcast(const Shape& result, std::initializer_list<Shape> inputs) {
  std::array<BroadcastPlan::Counts, BroadcastPlan::most_inputs> strides{};
  std::size_t count = 0;
  for (const Shape& input : inputs) strides[count++] = strides_along(result, input);

  BroadcastPlan plan;
  for (int axis = 0; axis < result.rank(); ++axis) {
    const Index size = result[axis];
    if (size == 1) continue;
    const auto continues = [&] {  // one step outside equals a whole walk inside, for every input
      for (std::size_t i = 0; i < count; ++i) {
        if (plan.strides[i][index(plan.rank - 1)] != strides[i][index(axis)] * size) return false;
      }
      return true;
    };
    const bool merge = plan.rank > 0 && continues();
    if (!merge) ++plan.rank;
    const std::size_t loop = index(plan.rank - 1);
    plan.sizes[loop] = merge ? plan.sizes[loop] * size : size;
    for (std::size_t i = 0; i < count; ++i) plan.strides[i][loop] = strides[i][index(axis)];
  }
  if (plan.rank == 0) {
    plan.rank = 1;
    plan.sizes[0] = 1;
  }
  return plan;
}

BroadcastWalk::BroadcastWalk(const BroadcastPlan& plan, Index begin) : plan_(plan) {
  for (int axis = plan.rank - 1; axis >= 0; --axis) {
    step(axis, begin % plan.sizes[index(axis)]);
    begin /= plan.sizes[index(axis)];
  }
}

void BroadcastWalk::step(int axis, Index n) {
  at_[index(axis)] += n;
  for (std::size_t i = 0; i < offsets_.size(); ++i)
    offsets_[i] += n * plan_.strides[i][index(axis)];
}

Index BroadcastWalk::left_in_row() const {
  return plan_.sizes[index(plan_.rank - 1)] - at_[index(plan_.rank - 1)];
}

void BroadcastWalk::advance(Index n) {
  int axis = plan_.rank - 1;
  step(axis, n);
  while (axis > 0 && at_[index(axis)] == plan_.sizes[index(axis)]) {
    step(axis, -plan_.sizes[index(axis)]);
    step(--axis, 1);
  }
}

Array broadcast_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return broadcast_map(
      shape, [](Real v) { return v; }, x);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
