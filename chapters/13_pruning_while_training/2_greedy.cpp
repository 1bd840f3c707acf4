//! title: the chooser greedy
//! replaces: headroom::greedy
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 11/2
//! hint: After the first head is gone, is the loss without the second one still what it was? Which
//!   set do you take the next player from?
//! hint: Keep a set `left`, which begins as game.all(). In each round, collect the sets
//!   left.without(i) of all i that are in `left` and allowed; ask for their values at once; the one
//!   with the lowest value is the next `left`.
//! hint: candidates.push_back(i); subsets.push_back(left.without(i)). best is the index of the
//!   smallest element of game.values(subsets). left = subsets[best], the head is
//!   game.players()[candidates[best]], and allowance.take(head) makes the loop end.
//! after: About N^2/2 passes instead of N: 78 for 12 heads. The choice is not always the best set,
//!   but it knows who covers for whom.
// Exercise 13/2, greedy: remove the cheapest head, and measure again.
#include "2_greedy.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadId> eliminate(HeadGame& game, Index remove, const Budget& budget) {
  Allowance allowance(game.model(), game.players(), remove, budget);
  std::vector<HeadId> removed;
  HeadSet left = game.all();
  while (allowance.left() > 0) {
    std::vector<Index> candidates;  // players that may go next
    std::vector<HeadSet> subsets;   // `left` without each of them
    for (Index i = 0; i < game.size(); ++i) {
      const HeadId& head = game.players()[static_cast<std::size_t>(i)];
      //! solution
      if (!left.contains(i) || !allowance.allows(head)) continue;
      candidates.push_back(i);
      subsets.push_back(left.without(i));
      //! skeleton
      // const bool may_go = chapter::todo("is player i in the set, and may it be removed?", head);
      // if (!may_go) continue;
      // candidates.push_back(i);
      // subsets.push_back(chapter::todo("the set that is left if player i goes"));
      //! mistake once: the costs were measured once, with all heads: what the second head costs
      //!   depends on whether the first one is still there
      //- subsets.push_back(left.without(i));
      //+ subsets.push_back(game.all().without(i));
      //! mistake ignores_budget: the budget was ignored, or was not told which heads are gone: see
      //!   allows() and take()
      //- if (!left.contains(i) || !allowance.allows(head)) continue;
      //+ if (!left.contains(i)) continue;
      // ...
      //- allowance.take(removed.back());
      //+ if (Index(removed.size()) == remove) break;
      //! mistake alone: each head was judged by what it does alone, with all others gone: what
      //!   counts is what the others lose without it
      // if (!left.contains(i) || !allowance.allows(head)) continue;
      // candidates.push_back(i);
      // subsets.push_back(HeadSet().with(i));
      //! mistake twice: a head that is gone was removed again: without it nothing changes, so it
      //!   looks cheapest. Take candidates from `left`
      //- if (!left.contains(i) || !allowance.allows(head)) continue;
      //+ if (!allowance.allows(head)) continue;
      //! end
    }
    const std::vector<double> values = game.values(subsets);
    //! solution
    const auto best = std::min_element(values.begin(), values.end()) - values.begin();
    //! skeleton
    // const Index best = chapter::todo("which of the subsets has the lowest loss");
    //! mistake costliest: the costliest heads were removed: the loss without a head is to be low
    // const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    //! mistake alone: what it does alone
    // const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    //! mistake other_way: the list is in the opposite order: the first head of it is the first to
    //!   be removed
    //- removed.push_back(game.players()[player]);
    //+ removed.insert(removed.begin(), game.players()[player]);
    //  left = left.without(Index(player));
    //- allowance.take(removed.back());
    //+ allowance.take(removed.front());
    //! mistake number_in_list: the number among the candidates was taken for the number of the
    //!   player: they differ as soon as one is gone
    //- removed.push_back(game.players()[player]);
    //+ removed.push_back(game.players()[static_cast<std::size_t>(best)]);
    //  left = left.without(Index(player));
    //- allowance.take(removed.back());
    //+ allowance.take(game.players()[player]);
    //! end
    const auto player = static_cast<std::size_t>(candidates[static_cast<std::size_t>(best)]);
    removed.push_back(game.players()[player]);
    //! solution
    left = left.without(Index(player));
    allowance.take(removed.back());
    //! skeleton
    // // The next round begins without this head, in `left` and for the budget.
    // left = chapter::todo("the set that is left after this removal");
    // allowance.take(chapter::todo("the head that was removed"));
    //! mistake left_as_it_was: `left` was not changed: each round then begins with all heads, and
    //!   finds the same one
    // allowance.take(removed.back());
    //! mistake budget_not_told: the budget was ignored, or was not told which heads are gone: see
    //!   allows() and take()
    // left = left.without(Index(player));
    // if (Index(removed.size()) == remove) break;
    //! end
  }
  return removed;
}

}  // namespace

Chooser greedy() { return eliminate; }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
