// Swapper: the heads that a Pruner swaps for others, and the stash of those that may come back.
// Private.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "headroom_measure/pruning/regrowth_choice.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Heads that leave a model, and heads that come back as part of the same event.
struct HeadSwap {
  std::vector<HeadId> out;
  std::vector<RemovedHead> in = {};
};

/// Finds the swaps of a recipe with Regrowth and makes them. With RegrowWith::stash it keeps all
/// heads that it removes.
class Swapper {
 public:
  /// All of these must outlive it. Throws UsageError for fresh heads of a layout that has none.
  Swapper(Learner& learner, Optimizer& optimizer, const PruningRecipe& recipe, std::uint64_t seed);

  /// How many heads are swapped after this step, if `waiting` removed ones may come back.
  Index due(Index step, Index waiting) const;
  /// Each of the live heads `out`, in this order, with the best of the removed heads `waiting` that
  /// the budget lets take its place. A head for which none is left stays.
  HeadSwap paired(std::span<const HeadId> out, std::span<const HeadId> waiting, Index step) const;
  /// Makes a swap, or a removal. `means` have been compensated for, of heads in `out`.
  void apply(const HeadSwap& swap, const std::map<HeadId, Array>& means);

  void save_state(StateWriter to) const;
  /// Throws FileError unless the stashed heads are the `removed` ones.
  void load_state(const StateReader& from, const std::vector<HeadId>& removed);
  void clear() { stashed_.clear(); }

 private:
  const Regrowth& regrowth() const { return *recipe_.regrowth; }
  bool stashes() const { return regrowth().with == RegrowWith::stash; }
  std::vector<RemovedHead> best_first(std::span<const HeadId> heads, Index step) const;

  Learner& learner_;
  Optimizer& optimizer_;
  const PruningRecipe& recipe_;
  std::uint64_t seed_;
  std::vector<RemovedHead> stashed_;  // with RegrowWith::stash, all removed heads
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
