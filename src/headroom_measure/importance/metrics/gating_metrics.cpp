// Metrics that fit gates to a model whose parameters stay as they are.
#include <algorithm>
#include <cmath>

#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int fit_steps = 30;
constexpr double first_rate = 0.5;  // falls to 0, so that a logit can move by 7.5
constexpr double first_logit = 2, largest_logit = 4;
constexpr double penalty = 0.01;  // in nats per example and unit of a logit

/// The gates sigmoid(a_h) that minimise v(gates) - pull sum_h a_h, with |a_h| at most
/// largest_logit, by Adam on all examples. They begin nearly open, because the loss of a model
/// whose gates are all half open says little about the model.
std::vector<double> fitted_gates(HeadGame& game, double pull) {
  constexpr double keep_first = 0.9, keep_second = 0.99;
  const auto count = static_cast<std::size_t>(game.size());
  std::vector<double> logits(count, first_logit), first(count, 0), second(count, 0);
  std::vector<double> gates(count);
  const auto open = [&] {
    for (std::size_t h = 0; h < count; ++h) gates[h] = 1 / (1 + std::exp(-logits[h]));
  };
  open();
  for (int step = 0; step < fit_steps; ++step) {
    const std::vector<double> of_gates = game.gradient(gates);
    const double rate = first_rate * (1 - double(step) / fit_steps);
    const double seen_first = 1 - std::pow(keep_first, step + 1);
    const double seen_second = 1 - std::pow(keep_second, step + 1);
    for (std::size_t h = 0; h < count; ++h) {
      const double slope = of_gates[h] * gates[h] * (1 - gates[h]) - pull;
      first[h] += (1 - keep_first) * (slope - first[h]);
      second[h] += (1 - keep_second) * (slope * slope - second[h]);
      const double change = first[h] / seen_first / (std::sqrt(second[h] / seen_second) + 1e-8);
      logits[h] = std::clamp(logits[h] - rate * change, -largest_logit, largest_logit);
    }
    open();
  }
  return gates;
}

/// Two fits of gates: one is pulled to open gates, one to closed ones. A head that stays open in
/// both facilitates the task, one that is closed in both interferes with it, and one that follows
/// the pull is irrelevant. The score is g_up + g_down - 1: about 1, -1 and 0 for the three. The
/// paper fits minibatches, and begins both fits where a fit without a penalty ended.
class CausalGating : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    up_ = fitted_gates(game, penalty);
    down_ = fitted_gates(game, -penalty);
  }
  std::vector<double> scores() const override {
    std::vector<double> scores;
    for (std::size_t h = 0; h < up_.size(); ++h) scores.push_back(up_[h] + down_[h] - 1);
    return scores;
  }
  MetricDetails details() const override {
    MetricDetails details{{{"gates_up", up_}, {"gates_down", down_}}, {}};
    for (std::size_t h = 0; h < up_.size(); ++h) {
      const bool up = up_[h] > 0.5, down = down_[h] > 0.5;
      details.classes.emplace_back(up != down ? "irrelevant" : up ? "facilitating" : "interfering");
    }
    return details;
  }

 private:
  std::vector<double> up_, down_;
};

}  // namespace

std::vector<MetricEntry> gating_metrics() {
  return {
      metric_of<CausalGating>(
          {.name = "causal_gating",
           .formula = "g_up + g_down - 1, gates sigmoid(a) that minimise v -+ 0.01 sum a in 30 "
                      "steps, |a| <= 4",
           .source = "Nam et al. 2025 (causal head gating), arXiv 2505.13737, without its fit "
                     "without a penalty",
           .cost = "60 B"}),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
