// Hard concrete gates with a target number of heads.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pruning/gates/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double beta = 2.0 / 3, gamma = -0.1, zeta = 1.1;
constexpr double first_mean = 5, first_deviation = 0.01;
constexpr double stiffness = 3;  // c, in nats per squared head

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// s of ln alpha and u, Louizos et al. 2018 (10).
double concrete(double value, double u) {
  return sigmoid((std::log(u) - std::log1p(-u) + value) / beta);
}

/// The stretched and clipped value of s in (0, 1), (10) and (11).
double stretched(double s) { return std::clamp(s * (zeta - gamma) + gamma, 0.0, 1.0); }

/// The value of a head is ln alpha. With u uniform in (0, 1) its gate is (Louizos et al. 2018)
///
///   s = sigmoid((ln u - ln(1 - u) + ln alpha) / beta),   g = clip(s (zeta - gamma) + gamma, 0, 1)
///   P(g > 0) = sigmoid(ln alpha - beta ln(-gamma / zeta))                                  (12)
///
/// The expected number of open heads E = sum_h P(g_h > 0) is led to its target T by an augmented
/// Lagrangian: the penalty is a d + c/2 d^2 with d = E - T, minimised by the values, and a rises by
/// multiplier_rate d in each step. Wang, Wohlwend and Lei 2020, "Structured pruning of large
/// language models", have a second multiplier in place of the constant c and many more steps; in a
/// few hundred steps such multipliers grow while the gates are still saturated, and all of them
/// close.
class HardConcrete : public GateMethod {
 public:
  using GateMethod::GateMethod;

  double first_value(Rng& rng) const override {
    return first_mean + first_deviation * double(rng.normal());
  }

  GateSample sample(std::span<const double> values, const GateStep& step) const override {
    GateSample sample;
    std::vector<double> slopes;  // dg/d ln alpha
    for (std::size_t h = 0; h < values.size(); ++h) {
      const double s = concrete(values[h], step.noise[h]), gate = stretched(s);
      sample.gates.push_back(gate);
      slopes.push_back(gate > 0 && gate < 1 ? (zeta - gamma) * s * (1 - s) / beta : 0);
    }
    sample.gradient = [slopes](std::span<const double> gates) {
      std::vector<double> gradient = slopes;
      for (std::size_t h = 0; h < gradient.size(); ++h) gradient[h] *= gates[h];
      return gradient;
    };
    return sample;
  }

  GatePenalty penalty(const GateState& state, const GateStep& step) const override {
    const double distance = open_heads(state.values, step) - step.open;
    GatePenalty penalty{state.multiplier * distance + stiffness / 2 * distance * distance, {}};
    for (const double value : state.values) {
      const double open = open_probability(value);
      penalty.gradient.push_back((state.multiplier + stiffness * distance) * open * (1 - open));
    }
    return penalty;
  }

  void update(GateState& state, std::span<const double> gradient,
              const GateStep& step) const override {
    const double distance = open_heads(state.values, step) - step.open;
    GateMethod::update(state, gradient, step);
    state.multiplier += options().multiplier_rate * distance;
  }

  double open_heads(std::span<const double> values, const GateStep& /*step*/) const override {
    return std::accumulate(values.begin(), values.end(), 0.0,
                           [](double sum, double value) { return sum + open_probability(value); });
  }

  /// The medians of the gates given that they are above 0. The gates without noise, (13), are 0 for
  /// ln alpha < ln(1/11), where a head may still be one of those that are kept.
  std::vector<double> final_gates(std::span<const double> values) const override {
    std::vector<double> gates;
    for (const double value : values) {
      const double rest = open_probability(value) / 2;  // 1 - u of the median
      gates.push_back(stretched(concrete(value, 1 - rest)));
    }
    return gates;
  }

 private:
  static double open_probability(double value) {
    static const double shift = beta * std::log(-gamma / zeta);
    return sigmoid(value - shift);
  }
};

}  // namespace

GateMethodEntry gates_hard_concrete() {
  return {.name = "hard_concrete",
          .summary = "random gates, led to the number of heads to keep",
          .score = "ln alpha",
          .source = "Louizos, Welling and Kingma 2018, equations 10 to 12; Voita et al. 2019",
          .metric = "hard_concrete",
          .make = make_gates<HardConcrete>};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
