// Recipes that can be followed.
#include "headroom_measure/pruning/pruning_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/require.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/pruning/training_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void must(bool hold, const std::string& text) { require(hold, "pruning: " + text); }

}  // namespace

bool is_metric_choice(const std::string& chooser) {
  const std::deque<ChooserEntry>& choosers = head_choosers();
  return std::none_of(choosers.begin(), choosers.end(),
                      [&](const ChooserEntry& entry) { return entry.info.name == chooser; });
}

void PruningRecipe::check() const {
  if (!gates || !chooser.empty()) head_chooser(chooser);  // throws
  headroom::check(pace);
  must(remove >= 0, fmt::format("{} heads to remove; the number must not be negative", remove));
  must(given.empty() || std::ssize(given) == remove,
       fmt::format("{} heads to remove, but {} are given", remove, given.size()));
  must(given.empty() || rescoring == Rescoring::once,
       fmt::format("the order of the heads is given; rescoring \"{}\" would change it",
                   name_of(rescoring)));
  must(examples >= 1, fmt::format("{} examples to measure on; at least 1", examples));
  must(drop_head >= 0 && drop_head < 1,
       fmt::format("DropHead with probability {}; it must be in [0, 1)", drop_head));
  const std::vector<std::string> recorded = TrainingScores::metrics();
  must(rescoring != Rescoring::running ||
           std::find(recorded.begin(), recorded.end(), chooser) != recorded.end(),
       fmt::format("running scores come from training's own gradients: {}; not {}",
                   fmt::join(recorded, ", "), chooser));
  if (regrowth) {
    headroom::check(*regrowth, first_step(pace));
    must(remove > 0, "regrowth swaps live heads for removed ones, but none are removed");
    must(rescoring != Rescoring::once,
         "regrowth scores heads before each swap; rescoring \"once\" keeps the first scores");
  }
  if (!gates) return;
  gates->check();
  must(compensation == Compensation::none,
       "compensation adds the means of open heads; learned gates close the heads before they "
       "are removed");
  must(remove == 0,
       fmt::format("{} heads to remove beside learned gates, which keep {}", remove, gates->keep));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
