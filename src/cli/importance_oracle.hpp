// The exact answer: the loss of every subset of heads, and how far each metric is from the best.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headroom/base/terminal.hpp"
#include "headroom/heads/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A game with all of its values.
struct ExactGame {
  std::string title;  // "all heads", or the kind of attention
  std::vector<HeadId> players;
  std::vector<double> values;  // of 2^players subsets; see shapley.hpp
};

/// One game of all live heads if there are at most 12, otherwise one for each kind of attention,
/// in which the heads of other kinds are present. Each subset costs a pass over the examples of
/// ExampleSet::selection, on which no metric measures; `progress` is told the share that is done.
/// Throws UsageError if a kind has more than 12 heads.
std::vector<ExactGame> exact_games(Learner& learner, Index examples,
                                   const std::function<void(double share)>& progress);

/// Shapley and Banzhaf values, the best subset of each size, and the regret of each metric.
std::string oracle_text(const ExactGame& game, const ImportanceTable& table,
                        const TerminalStyle& style);
Record oracle_record(const ExactGame& game, const ImportanceTable& table);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
