// Swaps of heads: pairs, the stash, its part of a checkpoint.
#include "pruning/swapper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Whether a budget lets a removed head take the place of a live one.
bool may_replace(BudgetOver over, const HeadId& live, const HeadId& removed) {
  return over == BudgetOver::global ||
         (live.kind == removed.kind &&
          (over == BudgetOver::per_kind || live.layer == removed.layer));
}

std::vector<RemovedHead>::const_iterator find_head(const std::vector<RemovedHead>& heads,
                                                   const HeadId& head) {
  return std::find_if(heads.begin(), heads.end(),
                      [&](const RemovedHead& one) { return one.stash.share.head == head; });
}

/// The mean of a stashed head in a checkpoint.
std::string mean_name(std::size_t stashed) { return fmt::format("stash.{}.mean", stashed); }

}  // namespace

Swapper::Swapper(Learner& learner, Optimizer& optimizer, const PruningRecipe& recipe,
                 std::uint64_t seed)
    : learner_(learner), optimizer_(optimizer), recipe_(recipe), seed_(seed) {
  if (stashes()) return;
  for (const HeadId& head : live_heads(learner.model())) fresh_head(learner.model(), head, 1, 1);
}

Index Swapper::due(Index step, Index waiting) const {
  Module& model = optimizer_.model();
  const std::vector<HeadId> alive = live_heads(model);
  return std::min({swapped_at(regrowth(), first_step(recipe_.pace), std::ssize(alive), step),
                   waiting, most_removable(model, alive, recipe_.budget)});
}

std::vector<RemovedHead> Swapper::best_first(std::span<const HeadId> heads, Index step) const {
  std::vector<RemovedHead> all;
  std::vector<HeadScore> gains;
  if (stashes()) {
    for (const HeadId& head : heads) all.push_back(*find_head(stashed_, head));
    gains = gains_of_stashed(learner_, all, recipe_.examples);
  } else {
    std::vector<HeadStash> fresh;
    for (const HeadId& head : heads) {
      fresh.push_back(fresh_head(optimizer_.model(), head, seed_, step));
      all.push_back({fresh.back()});
    }
    gains = gains_of_fresh(learner_, fresh, recipe_.examples);
  }
  const std::vector<HeadId> order = least_important_first(gains);
  std::vector<RemovedHead> sorted;
  for (auto head = order.rbegin(); head != order.rend(); ++head) {
    sorted.push_back(*find_head(all, *head));
  }
  return sorted;
}

HeadSwap Swapper::paired(std::span<const HeadId> out, std::span<const HeadId> waiting,
                         Index step) const {
  HeadSwap swap;
  std::vector<RemovedHead> best = best_first(waiting, step);
  for (const HeadId& head : out) {
    const auto partner = std::find_if(best.begin(), best.end(), [&](const RemovedHead& one) {
      return may_replace(recipe_.budget.over, head, one.stash.share.head);
    });
    if (partner == best.end()) continue;
    swap.out.push_back(head);
    swap.in.push_back(std::move(*partner));
    best.erase(partner);
  }
  return swap;
}

void Swapper::apply(const HeadSwap& swap, const std::map<HeadId, Array>& means) {
  std::vector<HeadStash> returning;
  for (const RemovedHead& head : swap.in) returning.push_back(head.stash);
  const std::vector<HeadStash> removed = swap_heads(optimizer_, swap.out, returning);
  undo_compensation(optimizer_.model(), swap.in);
  if (!stashes()) return;
  for (const RemovedHead& head : swap.in) {
    stashed_.erase(find_head(stashed_, head.stash.share.head));
  }
  for (const HeadStash& head : removed) {
    const auto mean = means.find(head.share.head);
    stashed_.push_back({head, mean == means.end() ? Array() : mean->second});
  }
}

void Swapper::save_state(StateWriter to) const {
  if (stashed_.empty()) return;
  std::vector<HeadStash> stashes;
  for (const RemovedHead& head : stashed_) {
    if (head.mean.defined()) to.array(mean_name(stashes.size()), head.mean);
    stashes.push_back(head.stash);
  }
  save_stashes(to.part("stash"), stashes);
}

void Swapper::load_state(const StateReader& from, const std::vector<HeadId>& removed) {
  clear();
  if (!stashes() || removed.empty()) return;
  for (HeadStash& stash : load_stashes(from.part("stash"))) {
    const std::string mean = mean_name(stashed_.size());
    stashed_.push_back({std::move(stash), from.has(mean) ? from.array(mean) : Array()});
  }
  if (stashed_.size() == removed.size() &&
      std::all_of(removed.begin(), removed.end(),
                  [&](const HeadId& head) { return find_head(stashed_, head) != stashed_.end(); }))
    return;
  throw FileError(
      fmt::format("{}: the stashed heads are not those that were removed", from.where("stash")));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
