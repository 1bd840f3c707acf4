// The chooser greedy.
#include <algorithm>

#include "headroom/base/at.hpp"
#include "importance/choosers/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadId> eliminate(HeadGame& game, Index remove, const Budget& budget) {
  Allowance allowance(game.model(), game.players(), remove, budget);
  std::vector<HeadId> removed;
  for (HeadSet left = game.all(); allowance.left() > 0;) {
    std::vector<Index> candidates;
    std::vector<HeadSet> subsets;
    for (Index i = 0; i < game.size(); ++i) {
      if (!left.contains(i) || !allowance.allows(at(game.players(), i))) continue;
      candidates.push_back(i);
      subsets.push_back(left.without(i));
    }
    const std::vector<double> values = game.values(subsets);
    const auto best = std::min_element(values.begin(), values.end()) - values.begin();
    left = at(subsets, best);
    removed.push_back(at(game.players(), at(candidates, best)));
    allowance.take(removed.back());
  }
  return removed;
}

}  // namespace

Chooser greedy() { return eliminate; }

ChooserEntry chooser_greedy() {
  return {{.name = "greedy",
           .formula = "backward elimination: remove argmin_h v(S - h), then measure again",
           .source = "Marill and Green 1963; for heads as Parnami, Singh and Joshi 2021",
           .cost = "N^2/2 F"},
          [](const ChooserOptions&) { return greedy(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
