// Checks greedy, as the library makes it by its name, against plain loops over the losses of a game
// on the same model with random weights, under several budgets. The hypotheses are the same loops
// with a mistake in them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/small_learner.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom_measure/importance/choosers.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

constexpr Index examples = 3;
using Order = std::vector<Index>;  // players, the first one to be removed first

/// The loss without a player, or another number by which the next one is chosen: the lowest goes.
using Price = std::function<double(HeadGame&, HeadSet left, Index player)>;

double price_now(HeadGame& game, HeadSet left, Index player) {
  return game.value(left.without(player));
}

/// A mistake in an elimination: how it treats players that are gone.
enum class Gone { stay_away, come_again, stay_in_left };

/// Removes the player with the lowest price, again and again.
Order eliminated(HeadGame& game, Index remove, const Budget& budget, const Price& price,
                 Gone gone = Gone::stay_away) {
  Allowance allowance(game.model(), game.players(), remove, budget);
  Order order;
  HeadSet left = game.all();
  while (std::ssize(order) < remove) {
    Index best = -1;
    double lowest = 0;
    for (Index i = 0; i < game.size(); ++i) {
      if (!(gone == Gone::come_again || left.contains(i)) ||
          !allowance.allows(at(game.players(), i)))
        continue;
      const double of_this = price(game, left, i);
      if (best >= 0 && of_this >= lowest) continue;
      best = i;
      lowest = of_this;
    }
    if (best < 0) throw UsageError("no player may be removed");
    order.push_back(best);
    if (gone != Gone::stay_in_left) left = left.without(best);
    allowance.take(at(game.players(), best));
  }
  return order;
}

Array numbers_of(const Order& order) {
  Array numbers({std::ssize(order)});
  for (Index i = 0; i < numbers.size(); ++i) numbers[i] = Real(at(order, i));
  return numbers;
}

/// The order of removal, where every number of the result is that of a candidate of its round.
Order number_in_list(const Order& order) {
  Order result;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto gone_before = std::count_if(order.begin(), order.begin() + std::ptrdiff_t(k),
                                           [&](Index player) { return player < order[k]; });
    result.push_back(order[k] - gone_before);
  }
  return result;
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
  const auto with = [&](const Price& price) {
    return [&, price] { return numbers_of(eliminated(game, remove, budget, price)); };
  };
  const Budget none{.at_least_of_kind = 0};
  const Order expected = eliminated(game, remove, budget, price_now);
  chapter::require_equal(
      "the players to remove, in their order,", numbers_of(expected), numbers_of(yours),
      {{"place"}, {}},
      {{"the costs were measured once, with all heads: what the second head costs depends on "
        "whether the first one is still there",
        with([](HeadGame& g, HeadSet, Index i) { return g.value(g.all().without(i)); })},
       {"the costliest heads were removed: the loss without a head is to be low",
        with([](HeadGame& g, HeadSet left, Index i) { return -price_now(g, left, i); })},
       {"each head was judged by what it does alone, with all others gone: what counts is what "
        "the others lose without it",
        with([](HeadGame& g, HeadSet, Index i) { return -g.value(HeadSet().with(i)); })},
       {"the budget was ignored, or was not told which heads are gone: see allows() and take()",
        [&] { return numbers_of(eliminated(game, remove, none, price_now)); }},
       {"a head that is gone was removed again: without it nothing changes, so it looks cheapest. "
        "Take candidates from `left`",
        [&] { return numbers_of(eliminated(game, remove, budget, price_now, Gone::come_again)); }},
       {"`left` was not changed: each round then begins with all heads, and finds the same one",
        [&] {
          return numbers_of(eliminated(game, remove, budget, price_now, Gone::stay_in_left));
        }},
       {"the list is in the opposite order: the first head of it is the first to be removed",
        [&] { return numbers_of(Order(expected.rbegin(), expected.rend())); }},
       {"the number among the candidates was taken for the number of the player: they differ as "
        "soon as one is gone",
        [&] { return numbers_of(number_in_list(expected)); }}});
}

}  // namespace

TEST_CASE("without a budget", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check_order(*chapter::small_learner(seed), 6, {.at_least_of_kind = 0});
  }
}

TEST_CASE("two heads of each kind must stay", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check_order(*chapter::small_learner(seed), 3, {.at_least_of_kind = 2});
  }
}

TEST_CASE("two layers, two heads in each attention", "[13/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check_order(*chapter::small_learner(seed, 2), 4, {.at_least = 2});
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
