// Checks leave_one_out, as the library measures it, against the losses of a game on the same model
// with random weights. Some heads of it are harmful.
#include <fmt/format.h>

#include "common/small_learner.hpp"
#include "headroom/base/at.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

constexpr Index examples = 3;

/// Scores of n heads by a function of the head's number.
template <class Score>
Array scores_of(Index n, Score score) {
  Array scores({n});
  for (Index i = 0; i < n; ++i) scores[i] = Real(score(i));
  return scores;
}

void check_scores(Learner& learner) {
  HeadGame game(learner, ExampleSet::importance, examples);
  const Index n = game.size();
  const HeadSet all = game.all();
  std::vector<HeadSet> subsets{all};
  for (Index i = 0; i < n; ++i) subsets.push_back(all.without(i));
  const std::vector<double> losses = game.values(subsets);  // together, which is faster
  const ImportanceTable table =
      measure_importance(learner, {"leave_one_out"}, {.examples = examples});
  const std::vector<double>& scores = table.columns.at(0).scores;
  chapter::require(std::ssize(scores) == n,
                   fmt::format("there are {} scores for {} heads.", std::ssize(scores), n));
  const Array yours = scores_of(n, [&](Index i) { return at(scores, i); });
  const auto cost = [&](Index i) { return at(losses, i + 1) - losses[0]; };
  chapter::require_equal("the scores", scores_of(n, cost), yours, {{"head"}, {}});
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
  // Two seeds: the games of 18 heads take long.
  for (const std::uint64_t seed : {1U, 2U}) check_scores(*chapter::small_learner(seed, 2));
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
