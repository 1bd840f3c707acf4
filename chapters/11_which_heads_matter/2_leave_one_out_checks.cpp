// Checks leave_one_out, as the library measures it, against the losses of a game on the same model
// with random weights. Some heads of it are harmful. The hypotheses take other sets of heads.
#include <fmt/format.h>

#include "common/small_learner.hpp"
#include "headroom/base/at.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

constexpr Index examples = 5;

/// Scores of n heads by a function of the head's number.
template <class Score>
Array scores_of(Index n, Score score) {
  Array scores({n});
  for (Index i = 0; i < n; ++i) scores[i] = Real(score(i));
  return scores;
}

/// The set of the heads after number i.
HeadSet after(Index i, Index n) {
  HeadSet set;
  for (Index j = i + 1; j < n; ++j) set = set.with(j);
  return set;
}

void check_scores(Learner& learner) {
  HeadGame game(learner, ExampleSet::importance, examples);
  const Index n = game.size();
  const auto v = [&](HeadSet set) { return game.value(set); };
  const HeadSet all = game.all();
  const double whole = v(all), none = v(HeadSet());
  const auto cost = [&](Index i) { return v(all.without(i)) - whole; };
  const ImportanceTable table =
      measure_importance(learner, {"leave_one_out"}, {.examples = examples});
  const std::vector<double>& scores = table.columns.at(0).scores;
  chapter::require(std::ssize(scores) == n,
                   fmt::format("there are {} scores for {} heads.", std::ssize(scores), n));
  const Array yours = scores_of(n, [&](Index i) { return at(scores, i); });
  chapter::require_equal(
      "the scores", scores_of(n, cost), yours, {{"head"}, {}},
      {{"the heads before it were still missing when a head was taken away: start from game.all() "
        "each time",
        [&] { return scores_of(n, [&](Index i) { return v(after(i, n)) - v(after(i - 1, n)); }); }},
       {"the heads before it were missing, too, when a head was taken away: start from game.all() "
        "each time",
        [&] { return scores_of(n, [&](Index i) { return v(after(i, n)) - whole; }); }},
       {"the loss of the whole model was not subtracted",
        [&] { return scores_of(n, [&](Index i) { return v(all.without(i)); }); }},
       {"all other heads were missing: that is how much a head does alone, not how much it is "
        "missed",
        [&] { return scores_of(n, [&](Index i) { return none - v(HeadSet().with(i)); }); }},
       {"the sign was dropped: a head whose removal lowers the loss is harmful, not important",
        [&] { return scores_of(n, [&](Index i) { return std::abs(cost(i)); }); }},
       {"heads were taken by their number in their layer: players are numbered through all layers",
        [&] { return scores_of(n, [&](Index i) { return cost(at(game.players(), i).head); }); }}});
  chapter::require(table.forward == n + 1,
                   fmt::format("the scores of {} heads took {} passes over the examples, expected "
                               "{}: the loss of the whole model is the same for all heads.",
                               n, table.forward, n + 1));
}

}  // namespace

TEST_CASE("one layer", "[11/2]") {
  for (const std::uint64_t seed : chapter::seeds) check_scores(*chapter::small_learner(seed));
}

TEST_CASE("two layers", "[11/2]") {
  for (const std::uint64_t seed : chapter::seeds) check_scores(*chapter::small_learner(seed, 2));
}

TEST_CASE("after a removal", "[11/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto learner = chapter::small_learner(seed);
    for (const NamedAttention& found : attentions(learner->model())) {
      found.attention->prune(std::vector<Index>{1});
    }
    check_scores(*learner);
  }
}
