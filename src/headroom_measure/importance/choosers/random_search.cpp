// The chooser random_search.
#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/rng.hpp"
#include "importance/choosers/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadId> best_of_random(HeadGame& game, Index remove, const Budget& budget,
                                   const ChooserOptions& options) {
  Rng rng(options.seed, "subsets of random_search");
  std::vector<std::vector<HeadId>> choices;
  std::vector<HeadSet> subsets;
  const Index samples = options.samples == 0 ? random_search_samples : options.samples;
  while (std::ssize(choices) < samples) {
    std::vector<HeadId> order = game.players();
    shuffle(order, rng);
    choices.push_back(first_allowed(game.model(), order, remove, budget));
    subsets.push_back(game.all_but(choices.back()));
  }
  const std::vector<double> values = game.values(subsets);
  return at(choices, std::min_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

Chooser random_search(const ChooserOptions& options) {
  options.check();
  return [options](HeadGame& game, Index remove, const Budget& budget) {
    return best_of_random(game, remove, budget, options);
  };
}

ChooserEntry chooser_random_search() {
  return {{.name = "random_search",
           .formula = "the set with the lowest v of 8 random sets that the budget allows",
           .source = "baseline: random search, as Bergstra and Bengio 2012 for settings",
           .cost = "8 F"},
          [](const ChooserOptions& options) { return random_search(options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
