// Movement pruning with one score per head.
#include <cmath>

#include "pruning/gates/all.hpp"
#include "pruning/gates/top_k.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The value of a head is its score S_h = -rate sum over the steps of dL/dg_h. The gates are 1 for
/// the heads with the highest scores, as many as should be open, and 0 for the others, whose
/// gradients count too: a head that would help again returns. The published method has a score
/// for every weight; of a head, g_h is the only factor. The metric movement is another sum, of a
/// whole training without gates.
class Movement : public GateMethod {
 public:
  using GateMethod::GateMethod;

  GateSample sample(std::span<const double> values, const GateStep& step) const override {
    return {top_k(values, std::lround(step.open)), [](std::span<const double> gates) {
              return std::vector<double>(gates.begin(), gates.end());
            }};
  }

  void update(GateState& state, std::span<const double> gradient,
              const GateStep& /*step*/) const override {
    for (std::size_t h = 0; h < gradient.size(); ++h) {
      state.values[h] -= options().rate * gradient[h];
    }
    ++state.steps;
  }

  double open_heads(std::span<const double> /*values*/, const GateStep& step) const override {
    return double(std::lround(step.open));
  }
};

}  // namespace

GateMethodEntry gates_movement() {
  return {.name = "movement",
          .summary = "heads ranked by the sum of their gates' gradients",
          .score = "score",
          .source = "Sanh, Wolf and Rush 2020",
          .metric = "",
          .make = make_gates<Movement>};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
