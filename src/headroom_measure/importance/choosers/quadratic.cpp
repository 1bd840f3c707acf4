// The chooser quadratic.
#include "headroom/base/at.hpp"
#include "importance/choosers/all.hpp"
#include "importance/choosers/pair_costs.hpp"
#include "importance/gate_hessian.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadId> by_expansion(HeadGame& game, Index remove, const Budget& budget) {
  const GateExpansion expansion = expansion_of(game);
  PairCosts costs(game.size());
  for (Index i = 0; i < game.size(); ++i) {
    at(costs.single, i) = expansion.rise_without(i);
    for (Index j = 0; j < i; ++j) costs.set_pair(i, j, at(at(expansion.hessian, i), j));
  }
  return cheapest_removal(costs, game, remove, budget);
}

}  // namespace

Chooser quadratic() { return by_expansion; }

ChooserEntry chooser_quadratic() {
  return {
      {.name = "quadratic",
       .formula = "argmin over sets R of -sum_R g_i + sum_RxR H_ij / 2, H_ij = mean over (i, j) "
                  "and (j, i) of (g_j at gate_i = 1.1 - at 0.9) / 0.2",
       .source = "Hassibi and Stork 1993; for heads Kwon et al. 2022; with second differences "
                 "of the gates in place of derivatives",
       .cost = "2N B"},
      [](const ChooserOptions&) { return quadratic(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
