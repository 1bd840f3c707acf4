// Second differences of the loss by the gates, from gradients.
#include "importance/gate_hessian.hpp"

#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double GateExpansion::rise_without(Index player) const {
  return -at(gradient, player) + at(at(hessian, player), player) / 2;
}

GateExpansion expansion_of(HeadGame& game) {
  const auto count = static_cast<std::size_t>(game.size());
  std::vector<double> gates(count, 1.0);
  GateExpansion expansion{game.gradient(gates), {}};
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const auto gradient_at = [&](double gate) {
      gates[i] = gate;
      return game.gradient(gates);
    };
    std::vector<double> column = gradient_at(1 + gate_step);
    const std::vector<double> below = gradient_at(1 - gate_step);
    gates[i] = 1;
    for (std::size_t j = 0; j < count; ++j) column[j] = (column[j] - below[j]) / (2 * gate_step);
    columns.push_back(std::move(column));
  }
  expansion.hessian = columns;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      expansion.hessian[i][j] = (columns[i][j] + columns[j][i]) / 2;
    }
  }
  return expansion;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
