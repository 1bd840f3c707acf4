// The second-order Taylor expansion of the loss in the gates. Private.
#pragma once

#include <vector>

#include "headroom/heads/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Gradient and Hessian of the mean loss by the players' gates, where all are 1.
struct GateExpansion {
  std::vector<double> gradient;
  std::vector<std::vector<double>> hessian;  // symmetric

  /// The rise of the loss that the expansion predicts when the gate of one player goes to 0.
  double rise_without(Index player) const;
};

/// The Hessian is made of central differences of gradients, made symmetric: 2 N + 1 passes forward
/// and backward.
GateExpansion expansion_of(HeadGame& game);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
