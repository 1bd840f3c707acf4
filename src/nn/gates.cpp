// The product of the heads' outputs with their gates.
#include "headroom/nn/gates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Reshapes the gates [L], [B, L] or [B, L, Tq] of the live heads to a factor of [B, Tq, L, D].
Tensor factor_of(const Tensor& live) {
  switch (live.rank()) {
    case 1: return reshape(live, {1, 1, live.dim(0), 1});
    case 2: return reshape(live, {live.dim(0), 1, live.dim(1), 1});
    default: return reshape(permute(live, {0, 2, 1}), {live.dim(0), live.dim(2), live.dim(1), 1});
  }
}

void check(const Tensor& y, const Tensor& gates, std::span<const Index> alive, Index heads) {
  if (y.rank() != 3 || alive.empty() || y.dim(2) % Index(alive.size()) != 0) {
    throw ShapeError(fmt::format("attention: y {} must be [B, Tq, L D] with L = {} live heads",
                                 y.shape().text(), alive.size()));
  }
  const Shape& shape = gates.shape();
  const Index batch = y.dim(0), queries = y.dim(1);
  if (shape != Shape{heads} && shape != Shape{batch, heads} &&
      shape != Shape{batch, heads, queries}) {
    throw ShapeError(fmt::format(
        "attention: gates {} must be [H], [B, H] or [B, H, Tq] with B = {}, H = {}, Tq = {}",
        shape.text(), batch, heads, queries));
  }
}

}  // namespace

Tensor apply_gates(const Tensor& y, const Tensor& gates, std::span<const Index> alive,
                   Index heads) {
  check(y, gates, alive, heads);
  const auto live = Index(alive.size());
  Ids positions(Shape{live});
  std::transform(alive.begin(), alive.end(), positions.data(),
                 [](Index head) { return static_cast<std::int32_t>(head); });
  const Tensor factor = factor_of(gather(gates, gates.rank() == 1 ? 0 : 1, positions));
  // y [B, Tq, L D] as [B, Tq, L, D], times the factor, broadcast over D
  const Tensor by_head = reshape(y, {y.dim(0), y.dim(1), live, y.dim(2) / live});
  return reshape(by_head * factor, y.shape());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
