// Gates of a model whose parameters stay as they are.
#include <algorithm>
#include <cmath>

#include "pruning/gates/all.hpp"
#include "pruning/gates/top_k.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The value of a head is its gate g_h >= 0, 1 at first, and the penalty is `penalty` times the sum
/// of all gates. The model does not change, so the gates are the solution of a lasso, as the
/// factors of channels in He, Zhang and Sun 2017, "Channel pruning". DuoAttention (Xiao et al.
/// 2024) has the same penalty and limits gates to 1, where they would have no order.
class Frozen : public GateMethod {
 public:
  using GateMethod::GateMethod;

  double first_value(Rng& /*rng*/) const override { return 1; }

  GateSample sample(std::span<const double> values, const GateStep& /*step*/) const override {
    return {{values.begin(), values.end()}, [](std::span<const double> gates) {
              return std::vector<double>(gates.begin(), gates.end());
            }};
  }

  GatePenalty penalty(const GateState& state, const GateStep& /*step*/) const override {
    GatePenalty penalty{0, std::vector<double>(state.values.size(), options().penalty)};
    for (const double value : state.values) penalty.value += options().penalty * value;
    return penalty;
  }

  void update(GateState& state, std::span<const double> gradient,
              const GateStep& step) const override {
    GateMethod::update(state, gradient, step);
    for (double& value : state.values) value = std::max(0.0, value);
  }

  double open_heads(std::span<const double> values, const GateStep& /*step*/) const override {
    return double(std::count_if(values.begin(), values.end(), [](double g) { return g > 0; }));
  }

  std::vector<double> final_gates(std::span<const double> values) const override {
    return {values.begin(), values.end()};
  }

  bool freezes_model() const override { return true; }
};

/// The same values and penalty, but in each step only the largest gates are in the model, as many
/// as should be open, and the others are 0. Their gradients count as well: a gate that is 0 can
/// become one of the largest.
class FrozenTopK : public Frozen {
 public:
  using Frozen::Frozen;

  GateSample sample(std::span<const double> values, const GateStep& step) const override {
    GateSample sample = Frozen::sample(values, step);
    const std::vector<double> chosen = top_k(values, std::lround(step.open));
    for (std::size_t h = 0; h < chosen.size(); ++h) sample.gates[h] *= chosen[h];
    return sample;
  }

  double open_heads(std::span<const double> values, const GateStep& step) const override {
    return std::min(Frozen::open_heads(values, step), double(std::lround(step.open)));
  }
};

}  // namespace

GateMethodEntry gates_frozen() {
  return {.name = "frozen",
          .summary = "gates with an L1 penalty while the model is frozen",
          .score = "gate",
          .source = "He, Zhang and Sun 2017; DuoAttention, Xiao et al. 2024",
          .metric = "frozen_gates",
          .make = make_gates<Frozen>};
}

GateMethodEntry gates_frozen_top_k() {
  return {.name = "frozen_top_k",
          .summary = "the same with only the largest gates open",
          .score = "gate",
          .source = "GRASPrune 2026",
          .metric = "frozen_gates",
          .make = make_gates<FrozenTopK>};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
