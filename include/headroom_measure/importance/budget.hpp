// Budget: how many heads each attention and each kind must keep, and which heads may be removed.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Where heads compete with each other for removal: in the whole model, or only within each kind of
/// attention or each attention. Kinds and attentions then keep the same share of their original
/// heads, as nearly as whole numbers permit.
enum class BudgetOver { global, per_kind, per_layer };

/// The heads that must be left, wherever a choice of heads would remove them.
struct Budget {
  BudgetOver over = BudgetOver::global;
  Index at_least = 0;          // live heads that every attention keeps
  Index at_least_of_kind = 1;  // live heads that every kind of attention keeps

  using T = Budget;
  using Fields = Listed<&T::over, &T::at_least, &T::at_least_of_kind>;
  bool operator==(const Budget&) const = default;
};

/// Which heads may be removed next, while `remove` heads are removed one by one under a budget.
/// However the allowed ones are taken, all `remove` can be: the sets that a budget allows are the
/// independent sets of a laminar matroid. So a choice that takes the cheapest allowed head each
/// time is the best one for costs that add up (Edmonds 1971).
class Allowance {
 public:
  /// Only `candidates` may be removed; the model's other live heads count as kept. Throws
  /// UsageError if the budget leaves fewer than `remove` of them, and for negative numbers.
  Allowance(Module& model, std::span<const HeadId> candidates, Index remove, const Budget& budget);

  /// Whether the head may be removed, and noting that it was.
  bool allows(const HeadId& head) const;
  void take(const HeadId& head);
  /// Takes back the removal of a head.
  void give_back(const HeadId& head);
  /// How many heads can still be removed.
  Index left() const { return left_; }

 private:
  std::map<AttentionLocation, Index> room_;
  std::map<AttentionKind, Index> room_of_kind_;
  Index left_;
};

/// Heads of an attention: those that it was made with, those that are left, those that may go.
struct HeadCounts {
  Index original = 0, live = 0, candidates = 0;
};

/// How many of the candidates can be removed at most.
Index most_removable(Module& model, std::span<const HeadId> candidates, const Budget& budget);
Index most_removable(const std::map<AttentionLocation, HeadCounts>& counts, const Budget& budget);

/// The first `remove` heads of `order` that the budget allows. Throws as Allowance does.
std::vector<HeadId> first_allowed(Module& model, std::span<const HeadId> order, Index remove,
                                  const Budget& budget);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
