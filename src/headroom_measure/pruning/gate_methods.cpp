// The list of methods, and what is common to them.
#include "headroom_measure/pruning/gate_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/registry.hpp"
#include "pruning/gates/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

const Registry<GateMethodEntry>& registry() {
  static const Registry<GateMethodEntry> all(
      "gate method", {gates_hard_concrete(), gates_subset(), gates_subset_top_k(), gates_movement(),
                      gates_frozen(), gates_frozen_top_k()});
  return all;
}

}  // namespace

const std::deque<GateMethodEntry>& gate_methods() { return registry().all(); }

const GateMethodEntry& gate_method(const std::string& name, const std::string& origin) {
  return registry().at(name, origin);
}

void GateOptions::check() const {
  gate_method(method);
  if (begin < 0 || end <= begin) {
    throw UsageError(
        fmt::format("gates: steps {} to {}; the last must be above the first", begin, end));
  }
  const auto require = [](bool right, const char* name, double value, const char* expected) {
    if (!right) throw UsageError(fmt::format("gates: {} {} must be {}", name, value, expected));
  };
  require(keep >= 0, "keep", double(keep), "at least 0");
  require(ramp >= 0 && ramp <= 1, "ramp", ramp, "in [0, 1]");
  require(penalty >= 0, "penalty", penalty, "at least 0");
  require(multiplier_rate >= 0, "multiplier_rate", multiplier_rate, "at least 0");
  for (const auto& [name, value] : {std::pair("rate", rate),
                                    {"first_temperature", first_temperature},
                                    {"last_temperature", last_temperature}}) {
    require(value > 0 && std::isfinite(value), name, value, "a positive number");
  }
}

GatePenalty GateMethod::penalty(const GateState& state, const GateStep& /*step*/) const {
  return {0, std::vector<double>(state.values.size(), 0)};
}

void GateMethod::update(GateState& state, std::span<const double> gradient,
                        const GateStep& /*step*/) const {
  constexpr double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  const auto count = double(++state.steps);
  const double first_bias = 1 - std::pow(beta1, count), second_bias = 1 - std::pow(beta2, count);
  std::vector<double> scales;
  for (std::size_t h = 0; h < gradient.size(); ++h) {
    double &first = state.first[h], &second = state.second[h];
    first = beta1 * first + (1 - beta1) * gradient[h];
    second = beta2 * second + (1 - beta2) * gradient[h] * gradient[h];
    scales.push_back(std::sqrt(second / second_bias) + epsilon);
  }
  if (one_scale()) {
    scales.assign(scales.size(), *std::max_element(scales.begin(), scales.end()));
  }
  for (std::size_t h = 0; h < gradient.size(); ++h) {
    state.values[h] -= options_.rate * state.first[h] / first_bias / scales[h];
  }
}

std::vector<double> GateMethod::final_gates(std::span<const double> values) const {
  return std::vector<double>(values.size(), 1);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
