// Choosers: on games that are known exactly, and on a small model.
#include "headroom_measure/importance/choosers.hpp"

#include <algorithm>
#include <bit>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/polynomial_learner.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

const std::vector<Budget> budgets{
    {},
    {.at_least_of_kind = 0},
    {.over = BudgetOver::per_kind},
    {.over = BudgetOver::per_layer, .at_least = 1, .at_least_of_kind = 0}};

/// All sets of `remove` players that a budget allows.
std::vector<std::vector<HeadId>> allowed_sets(HeadGame& game, Index remove, const Budget& budget) {
  std::vector<std::vector<HeadId>> sets;
  for (std::uint64_t bits = 0; bits <= game.all().bits(); ++bits) {
    if (std::popcount(bits) != remove) continue;
    std::vector<HeadId> set;
    for (Index i = 0; i < game.size(); ++i) {
      if ((bits >> i & 1) != 0) set.push_back(at(game.players(), i));
    }
    Allowance allowance(game.model(), game.players(), remove, budget);
    const bool allowed = std::all_of(set.begin(), set.end(), [&](const HeadId& head) {
      const bool may = allowance.allows(head);
      if (may) allowance.take(head);
      return may;
    });
    if (allowed) sets.push_back(set);
  }
  return sets;
}

/// The lowest loss that a budget allows.
double best_of(const PolynomialLearner& learner, HeadGame& game, Index remove,
               const Budget& budget) {
  double best = 1e300;
  for (const std::vector<HeadId>& set : allowed_sets(game, remove, budget)) {
    best = std::min(best, learner.value(game.all_but(set)));
  }
  return best;
}

constexpr double near = is_double ? 1e-9 : 1e-4;

}  // namespace

TEST_CASE("gradients of the game are those of the loss, of each example and in the mean") {
  PolynomialLearner known(3, 0.5);
  HeadGame game(known, ExampleSet::importance, 3);
  std::vector<double> gates;
  for (Index i = 0; i < 9; ++i) gates.push_back(0.1 * double(i));
  const std::vector<double> gradient = game.gradient(gates);
  CHECK(game.gradient_passes() == 1);
  for (Index i = 0; i < 9; ++i) {
    std::vector<double> above = gates, below = gates;
    at(above, i) += 0.5;
    at(below, i) -= 0.5;
    CHECK(std::abs(at(gradient, i) - (known.value(above) - known.value(below))) < near);
  }
  CHECK_THROWS_WITH(game.gradient(std::vector<double>(8)), "head game: 8 gates of 9 players");

  FixedLearner learner;  // a model that is run, with other gates for each example
  HeadGame played(learner, ExampleSet::importance, 3,
                  {{AttentionKind::cross, 1, 0}, {AttentionKind::encoder_self, 0, 2}});
  const auto rows = played.example_gradients(
      [](Index example, Index player) { return player == 0 ? 0.25 * double(example) : 1; });
  REQUIRE(rows.size() == 3);
  const double h = is_double ? 1e-4 : 1e-2;
  for (std::size_t x = 0; x < 3; ++x) {
    const auto loss = [&](double gate) {
      return loss_of(learner.model(), learner.examples()[x], {AttentionKind::cross, 1, 0}, gate);
    };
    const double at_gate = 0.25 * double(x);
    CHECK(std::abs(rows[x][0] - (loss(at_gate + h) - loss(at_gate - h)) / (2 * h)) <
          (is_double ? 1e-7 : 3e-3));
  }
  for (const NamedParameter& own : parameters(learner.model())) {
    CHECK_FALSE(own.tensor.grad().defined());
  }
}

TEST_CASE("the game remembers the values of subsets") {
  PolynomialLearner learner(3, 0.5);
  HeadGame game(learner, ExampleSet::importance, 3);
  const std::vector<HeadSet> twice{game.all(), game.all().without(2), game.all()};
  const std::vector<double> values = game.values(twice);
  CHECK(game.passes() == 2);
  CHECK(values[0] == values[2]);
  CHECK(game.value(game.all().without(2)) == values[1]);
  CHECK(game.passes() == 2);
}

TEST_CASE("where costs add up, every chooser finds the best set that the budget allows", "[slow]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    PolynomialLearner learner(seed);
    for (const char* name : {"greedy", "pairwise", "quadratic", "sparse_pairs"}) {
      for (const Budget& budget : budgets) {
        for (const Index remove : {0, 1, 4, 6}) {
          INFO(name << ", " << remove << " heads, " << name_of(budget.over));
          HeadGame game(learner, ExampleSet::importance, 3);
          const std::vector<HeadId> chosen = head_chooser(name).make({})(game, remove, budget);
          REQUIRE(std::ssize(chosen) == remove);
          const double more =
              learner.value(game.all_but(chosen)) - best_of(learner, game, remove, budget);
          CHECK(std::abs(more) < near);
        }
      }
    }
  }
}

TEST_CASE("with costs of pairs, quadratic and pairwise find the best set, not the best ranking",
          "[slow]") {
  Index ranking_is_worse = 0;
  for (const std::uint64_t seed : {4U, 5U, 6U, 7U}) {
    PolynomialLearner learner(seed, 0.6);
    for (const Budget& budget : budgets) {
      for (const Index remove : {2, 4, 6}) {
        HeadGame game(learner, ExampleSet::importance, 3);
        const double best = best_of(learner, game, remove, budget);
        INFO(remove << " heads, " << name_of(budget.over) << ", seed " << seed);
        const std::vector<HeadId> expanded = quadratic()(game, remove, budget),
                                  fitted = pairwise({.samples = 400})(game, remove, budget);
        CHECK(std::abs(learner.value(game.all_but(expanded)) - best) < near);
        CHECK(learner.value(game.all_but(fitted)) < best + 0.02);  // the penalty changes the fit
        const std::vector<HeadId> eliminated = greedy()(game, remove, budget);
        CHECK(learner.value(game.all_but(eliminated)) >= best - near);
        std::vector<HeadScore> costs;
        for (Index i = 0; i < 9; ++i)
          costs.push_back({at(game.players(), i), at(learner.single, i)});
        const auto ranked =
            first_allowed(learner.model(), least_important_first(costs), remove, budget);
        if (learner.value(game.all_but(ranked)) > best + 0.02) ++ranking_is_worse;
      }
    }
  }
  CHECK(ranking_is_worse > 24);
}

TEST_CASE(
    "where few pairs matter, sparse_pairs finds them from fewer subsets than there are terms") {
  int ridge_is_worse = 0;
  for (const std::uint64_t seed : std::vector<std::uint64_t>{41, 42, 43}) {
    PolynomialLearner learner(seed, 0, 2);  // 18 heads, 153 pairs
    for (std::size_t p = std::size_t(seed) % 11; p < learner.pair.size(); p += 37) {
      learner.pair[p] = p % 2 == 0 ? 2 : -1.5;
    }
    HeadGame game(learner, ExampleSet::importance, 3);
    const Budget budget{.at_least_of_kind = 0};
    const double best = learner.value(game.all_but(quadratic()(game, 9, budget)));
    const Index before = game.passes();
    const ChooserOptions few{.samples = 100};
    const double sparse = learner.value(game.all_but(sparse_pairs(few)(game, 9, budget)));
    CHECK(game.passes() - before <= 100);
    CHECK(std::abs(sparse - best) < near);
    if (learner.value(game.all_but(pairwise(few)(game, 9, budget))) > best + 0.02) {
      ++ridge_is_worse;
    }
  }
  CHECK(ridge_is_worse > 0);
}

TEST_CASE("in games of many heads no exchange of two heads improves the choice") {
  const auto seed = GENERATE(8U, 9U, 10U);
  PolynomialLearner learner(seed, 1, 3);
  HeadGame game(learner, ExampleSet::importance, 3);
  REQUIRE(game.size() == 27);
  const Budget budget{.at_least = 1};
  const std::vector<HeadId> chosen = quadratic()(game, 10, budget);
  REQUIRE(chosen.size() == 10);
  CHECK(first_allowed(learner.model(), chosen, 10, budget) == chosen);
  const double cost = learner.value(game.all_but(chosen));
  for (const HeadId& back : chosen) {
    std::vector<HeadId> others = chosen;
    std::erase(others, back);
    for (const HeadId& instead : game.players()) {
      if (std::find(chosen.begin(), chosen.end(), instead) != chosen.end()) continue;
      Allowance allowance(learner.model(), game.players(), 10, budget);
      for (const HeadId& head : others) allowance.take(head);
      if (!allowance.allows(instead)) continue;
      std::vector<HeadId> exchanged = others;
      exchanged.push_back(instead);
      CHECK(learner.value(game.all_but(exchanged)) >= cost - near);
    }
  }
}

TEST_CASE("greedy removes the head without which the loss is lowest, each time") {
  FixedLearner learner;
  HeadGame game(learner, ExampleSet::importance, 3);
  const std::vector<HeadId> chosen = greedy()(game, 3, {});
  // One after the other is removed from a model of its own.
  FixedLearner pruned;
  for (const HeadId& head : chosen) {
    const auto loss_without = [&](const HeadId& which) {
      HeadGame rest(pruned, ExampleSet::importance, 3);
      const auto found = std::find(rest.players().begin(), rest.players().end(), which);
      return rest.value(rest.all().without(found - rest.players().begin()));
    };
    const double mine = loss_without(head);
    for (const HeadId& other : live_heads(pruned.model())) {
      CHECK(mine <= loss_without(other) + (is_double ? 1e-12 : 1e-5));
    }
    prune(pruned.model(), std::vector<HeadId>{head});
  }
  // N + (N - 1) + (N - 2) subsets.
  CHECK(game.passes() == 3 * game.size() - 3);
}

TEST_CASE("random_search removes the best of as many random sets as it may measure") {
  PolynomialLearner learner(5, 0.6);
  const Index all_sets = 84;  // of 3 of 9 heads
  for (const Budget& budget : budgets) {
    double last = 1e300, sum = 0;
    for (const Index samples : std::vector<Index>{1, 8, 64, 2000}) {
      HeadGame game(learner, ExampleSet::importance, 3);
      const ChooserOptions options{.seed = 3, .samples = samples};
      const std::vector<HeadId> chosen = random_search(options)(game, 3, budget);
      REQUIRE(chosen.size() == 3);
      CHECK(first_allowed(learner.model(), chosen, 3, budget) == chosen);
      CHECK(game.passes() <= std::min(samples, all_sets));
      const double loss = learner.value(game.all_but(chosen));
      CHECK(loss <= last);  // the draws of fewer samples are among those of more
      last = loss;
      sum += loss;
    }
    HeadGame game(learner, ExampleSet::importance, 3);
    CHECK(std::abs(last - best_of(learner, game, 3, budget)) < near);  // all sets were drawn
    CHECK(sum / 4 > last + near);
    CHECK(random_search({.seed = 3})(game, 3, budget) ==
          random_search({.seed = 3, .samples = 8})(game, 3, budget));
  }
}

TEST_CASE("choosers by metrics remove its least important heads, or its most important ones") {
  FixedLearner learner;
  HeadGame game(learner, ExampleSet::importance, 3);
  const std::vector<HeadId> order = least_important_first(
      measure_importance(learner, {"leave_one_out"}).importance("leave_one_out"));
  const Budget all{.at_least_of_kind = 0};
  CHECK(head_chooser("leave_one_out").make({})(game, 5, all) ==
        std::vector(order.begin(), order.begin() + 5));
  CHECK(head_chooser("worst_first").make({})(game, 5, all) ==
        std::vector(order.rbegin(), order.rbegin() + 5));
  // In a game among some heads, only these are chosen.
  std::vector<HeadId> cross = live_heads(learner.model());
  std::erase_if(cross, [](const HeadId& head) { return head.kind != AttentionKind::cross; });
  HeadGame among(learner, ExampleSet::importance, 3, cross);
  for (const char* name : {"leave_one_out", "greedy", "pairwise", "quadratic", "sparse_pairs"}) {
    INFO(name);
    const std::vector<HeadId> chosen = head_chooser(name).make({})(among, 4, {});
    REQUIRE(chosen.size() == 4);
    for (const HeadId& head : chosen) CHECK(head.kind == AttentionKind::cross);
  }
  CHECK_THROWS_WITH(by_metric("movement")(game, 1, {}), Catch::Contains("did not record"));
}

TEST_CASE("choosers are known by name, those of one's own too") {
  std::vector<std::string> names;
  for (const ChooserEntry& entry : head_choosers()) {
    INFO(entry.info.name);
    names.push_back(entry.info.name);
    CHECK_FALSE(entry.info.formula.empty());
    CHECK_FALSE(entry.info.source.empty());
    CHECK_FALSE(entry.info.cost.empty());
    CHECK(head_chooser(entry.info.name).info.formula == entry.info.formula);
  }
  CHECK(names.size() >= 4);
  CHECK(head_chooser("fisher").info.cost == head_metric("fisher").info.cost);
  CHECK_THROWS_WITH(head_chooser("greddy"), "chooser \"greddy\" is unknown (did you mean greedy?)");
  CHECK_THROWS_WITH(head_chooser("fishre"), Catch::Contains("did you mean fisher?"));
  CHECK_THROWS_WITH(head_chooser("pairwise").make({.samples = -1}), Catch::Contains("-1 samples"));
  const ChooserInfo info{.name = "first", .formula = "1", .source = "this test", .cost = "0"};
  const auto first = [](const ChooserOptions&) -> Chooser {
    return [](HeadGame& game, Index remove, const Budget& budget) {
      return first_allowed(game.model(), game.players(), remove, budget);
    };
  };
  add_head_chooser({info, first});
  PolynomialLearner learner(1);
  HeadGame game(learner, ExampleSet::importance, 3);
  CHECK(head_chooser("first").make({})(game, 1, {}) == std::vector<HeadId>{learner.heads()[0]});
  CHECK_THROWS_WITH(add_head_chooser({info, first}), Catch::Contains("exists already"));
  CHECK_THROWS_WITH(add_head_chooser({{}, first}), Catch::Contains("needs a name"));
  CHECK_THROWS_WITH(add_head_chooser({{.name = "x", .formula = {}, .source = {}, .cost = {}}, {}}),
                    Catch::Contains("no function"));
}
