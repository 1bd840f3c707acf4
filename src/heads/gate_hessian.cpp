// The Hessian of the gates by differences of their gradients.
#include "heads/gate_hessian.hpp"

#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double GateExpansion::rise_without(Index player) const {
  return -at(gradient, player) + at(at(hessian, player), player) / 2;
}

GateExpansion expansion_of(HeadGame& game) {
  // The truncation error grows with the square of the step, the rounding error with its inverse.
  constexpr double step = is_double ? 1e-4 : 1e-2;
  const auto count = static_cast<std::size_t>(game.size());
  std::vector<double> gates(count, 1.0);
  GateExpansion expansion{game.gradient(gates), {}};
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const auto gradient_at = [&](double gate) {
      gates[i] = gate;
      return game.gradient(gates);
    };
    std::vector<double> column = gradient_at(1 + step);
    const std::vector<double> below = gradient_at(1 - step);
    gates[i] = 1;
    for (std::size_t j = 0; j < count; ++j) column[j] = (column[j] - below[j]) / (2 * step);
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
