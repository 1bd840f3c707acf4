// The second-order expansion of the loss in the gates. Private.
#pragma once

#include <vector>

#include "headroom_measure/importance/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The distance of the gates 1 - step and 1 + step at which gradients are compared, in both
/// precisions. It belongs to the definition: with ReLU the gradient jumps where a unit switches, so
/// that the quotient of differences has no limit for small steps but depends on the few jumps
/// between the gates. This step averages over many jumps, and float resolves it.
inline constexpr double gate_step = 0.1;

/// Gradient g and second differences H of the mean loss by the players' gates, where all are 1:
/// H_ij = (D_ij + D_ji) / 2, D_ij = (g_j at gate_i = 1 + step - g_j at gate_i = 1 - step) /
/// (2 step). For a loss that is a polynomial of degree 3 in all gates together, H is
/// the Hessian.
struct GateExpansion {
  std::vector<double> gradient;
  std::vector<std::vector<double>> hessian;  // symmetric

  /// The rise of the loss that the expansion predicts when the gate of one player goes to 0.
  double rise_without(Index player) const;
};

/// Costs 2 N + 1 passes forward and backward.
GateExpansion expansion_of(HeadGame& game);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
