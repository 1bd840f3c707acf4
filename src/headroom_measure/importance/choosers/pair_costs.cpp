// The set of heads with the lowest cost by single heads and pairs.
#include "importance/choosers/pair_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

PairCosts::PairCosts(Index players)
    : single(static_cast<std::size_t>(players)),
      pairs_(static_cast<std::size_t>(players * players)) {}

double PairCosts::of_pair(Index i, Index j) const { return at(pairs_, i * players() + j); }

void PairCosts::set_pair(Index i, Index j, double cost) {
  at(pairs_, i * players() + j) = at(pairs_, j * players() + i) = cost;
}

namespace {

/// A set that grows by the cheapest player each time, and then changes by exchanges.
class Removal {
 public:
  Removal(const PairCosts& costs, const HeadGame& game, Allowance allowance)
      : costs_(costs), players_(game.players()), allowance_(std::move(allowance)) {}

  const std::vector<Index>& removed() const { return removed_; }
  void remove_cheapest() {
    Index best = nobody;
    for (Index i = 0; i < costs_.players(); ++i) {
      if (is_removed(i) || !allowance_.allows(at(players_, i))) continue;
      if (best == nobody || cost_of(i) < cost_of(best)) best = i;
    }
    allowance_.take(at(players_, best));
    removed_.push_back(best);
  }
  /// Makes the exchange of a removed and a kept player that lowers the cost most. Returns false if
  /// none does.
  bool exchange() {
    double lowest = -1e-12 * scale();  // less is rounding, and could go round in circles
    Index out = nobody, in = nobody;
    for (const Index back : removed_) {
      Allowance allowance = allowance_;
      allowance.give_back(at(players_, back));
      for (Index i = 0; i < costs_.players(); ++i) {
        if (is_removed(i) || !allowance.allows(at(players_, i))) continue;
        const double change = cost_of(i, back) - cost_of(back, back);
        if (change >= lowest) continue;
        lowest = change;
        out = back;
        in = i;
      }
    }
    if (in == nobody) return false;
    allowance_.give_back(at(players_, out));
    allowance_.take(at(players_, in));
    std::replace(removed_.begin(), removed_.end(), out, in);
    return true;
  }

 private:
  static constexpr Index nobody = -1;
  bool is_removed(Index i) const {
    return std::find(removed_.begin(), removed_.end(), i) != removed_.end();
  }
  /// The cost of removing i when those that are removed, but for one, are.
  double cost_of(Index i, Index but_for = nobody) const {
    double cost = at(costs_.single, i);
    for (const Index j : removed_) cost += j == but_for ? 0 : costs_.of_pair(i, j);
    return cost;
  }
  double scale() const {
    double most = 0;
    for (Index i = 0; i < costs_.players(); ++i) most = std::max(most, std::abs(cost_of(i)));
    return most;
  }

  const PairCosts& costs_;
  const std::vector<HeadId>& players_;
  Allowance allowance_;
  std::vector<Index> removed_;
};

/// Tries all sets that the budget allows.
class Enumeration {
 public:
  Enumeration(const PairCosts& costs, const HeadGame& game, Allowance allowance)
      : costs_(costs), players_(game.players()), allowance_(std::move(allowance)) {
    extend(0, 0, costs.single);
  }
  const std::vector<Index>& best() const { return best_; }

 private:
  /// Adds further players, from `first` on, to the removed ones. `more` is the cost that each
  /// player would add to theirs.
  void extend(Index first, double cost, const std::vector<double>& more) {
    if (allowance_.left() == 0) {
      if (cost >= lowest_) return;
      lowest_ = cost;
      best_ = removed_;
      return;
    }
    for (Index i = first; i + allowance_.left() <= costs_.players(); ++i) {
      const HeadId& head = at(players_, i);
      if (!allowance_.allows(head)) continue;
      allowance_.take(head);
      removed_.push_back(i);
      std::vector<double> then = more;
      for (Index j = i + 1; j < costs_.players(); ++j) at(then, j) += costs_.of_pair(i, j);
      extend(i + 1, cost + at(more, i), then);
      removed_.pop_back();
      allowance_.give_back(head);
    }
  }

  const PairCosts& costs_;
  const std::vector<HeadId>& players_;
  Allowance allowance_;
  std::vector<Index> removed_, best_;
  double lowest_ = std::numeric_limits<double>::infinity();
};

/// The set in the order in which its cheapest member is removed next.
std::vector<Index> cheapest_first(const PairCosts& costs, std::vector<Index> set) {
  std::vector<Index> order;
  while (!set.empty()) {
    const auto cost_of = [&](Index i) {
      double cost = at(costs.single, i);
      for (const Index j : order) cost += costs.of_pair(i, j);
      return cost;
    };
    const auto next = std::min_element(set.begin(), set.end(),
                                       [&](Index a, Index b) { return cost_of(a) < cost_of(b); });
    order.push_back(*next);
    set.erase(next);
  }
  return order;
}

}  // namespace

std::vector<HeadId> cheapest_removal(const PairCosts& costs, const HeadGame& game, Index remove,
                                     const Budget& budget) {
  const Allowance allowance(game.model(), game.players(), remove, budget);
  std::vector<Index> set;
  if (game.size() <= most_enumerated) {
    set = Enumeration(costs, game, allowance).best();
  } else {
    Removal removal(costs, game, allowance);
    for (Index i = 0; i < remove; ++i) removal.remove_cheapest();
    while (removal.exchange()) {
    }
    set = removal.removed();
  }
  std::vector<HeadId> heads;
  for (const Index i : cheapest_first(costs, set)) heads.push_back(at(game.players(), i));
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
