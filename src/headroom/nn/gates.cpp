// The product of the heads' outputs with their gates.
#include "headroom/nn/gates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/dropout.hpp"
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

Tensor product_of_gates(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  if (a.rank() < b.rank()) return product_of_gates(b, a);
  // Broadcasting aligns the last axes: [H] fits [B, H], but [B, H, Tq] needs [H, 1] or [B, H, 1].
  if (a.rank() < 3 || b.rank() == 3) return a * b;
  return b.rank() == 1 ? a * reshape(b, {b.dim(0), 1}) : a * reshape(b, {b.dim(0), b.dim(1), 1});
}

Tensor drop_head_gates(Index batch, Index heads, Real p, std::uint64_t module) {
  if (!(p >= 0 && p < 1)) {
    throw UsageError(fmt::format("drop head: p = {} must be in [0, 1)", p));
  }
  Array gates({batch, heads});
  for (Index head = 0; head < heads; ++head) {
    const MaskStream stream = mask_stream(module, head);
    for (Index b = 0; b < batch; ++b) {
      gates[b * heads + head] = Real(stream.uniform(b)) >= p ? 1 / (1 - p) : Real(0);
    }
  }
  return constant(gates);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
