// Checks greedy, as the library makes it by its name, against plain loops over the losses of a game
// on the same model with random weights, under several budgets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/small_learner.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom_measure/importance/choosers.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

constexpr Index examples = 2;
using Order = std::vector<Index>;  // players, the first one to be removed first

/// Removes the player without whom the loss is lowest, again and again.
Order eliminated(HeadGame& game, Index remove, const Budget& budget) {
  Allowance allowance(game.model(), game.players(), remove, budget);
  Order order;
  HeadSet left = game.all();
  while (std::ssize(order) < remove) {
    Order may_go;
    std::vector<HeadSet> subsets;
    for (Index i = 0; i < game.size(); ++i) {
      if (!left.contains(i) || !allowance.allows(at(game.players(), i))) continue;
      may_go.push_back(i);
      subsets.push_back(left.without(i));
    }
    if (may_go.empty()) throw UsageError("no player may be removed");
    const std::vector<double> losses = game.values(subsets);  // together, which is faster
    const Index best = at(may_go, std::min_element(losses.begin(), losses.end()) - losses.begin());
    order.push_back(best);
    left = left.without(best);
    allowance.take(at(game.players(), best));
  }
  return order;
}

Array numbers_of(const Order& order) {
  Array numbers({std::ssize(order)});
  for (Index i = 0; i < numbers.size(); ++i) numbers[i] = Real(at(order, i));
  return numbers;
}

void check_order(Learner& learner, Index remove, const Budget& budget) {
  HeadGame game(learner, ExampleSet::importance, examples);
  const std::vector<HeadId> heads = head_chooser("greedy").make({})(game, remove, budget);
  chapter::require(std::ssize(heads) == remove,
                   fmt::format("{} heads were chosen, expected {}: the list is not complete.",
                               heads.size(), remove));
  Order yours;
  for (const HeadId& head : heads) {
    const auto found = std::find(game.players().begin(), game.players().end(), head);
    chapter::require(found != game.players().end(),
                     fmt::format("{} is no player of the game.", head.text()));
    const Index player = found - game.players().begin();
    yours.push_back(player);
  }
  chapter::require_equal("the players to remove, in their order,",
                         numbers_of(eliminated(game, remove, budget)), numbers_of(yours),
                         {{"place"}, {}});
}

}  // namespace

TEST_CASE("without a budget", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check_order(*chapter::small_learner(seed), 4, {.at_least_of_kind = 0});
  }
}

TEST_CASE("two heads of each kind must stay", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check_order(*chapter::small_learner(seed), 3, {.at_least_of_kind = 2});
  }
}

TEST_CASE("two layers, two heads in each attention", "[13/2]") {
  for (const std::uint64_t seed : {1U, 2U}) {  // the games of 18 heads take long
    check_order(*chapter::small_learner(seed, 2), 3, {.at_least = 2});
  }
}

TEST_CASE("after a removal", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto learner = chapter::small_learner(seed);
    for (const NamedAttention& found : attentions(learner->model())) {
      found.attention->prune(std::vector<Index>{1});
    }
    check_order(*learner, 3, {});
  }
}
