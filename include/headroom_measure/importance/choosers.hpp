// Choosers: functions that choose a set of heads to remove, by the losses of a HeadGame.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "headroom_measure/importance/head_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Chooses `remove` of a game's players for removal within a budget. The first of the result are to
/// be removed first. Throws UsageError if the budget does not allow that many removals.
using Chooser = std::function<std::vector<HeadId>(HeadGame& game, Index remove, const Budget&)>;

/// The numbers and data that some choosers read.
struct ChooserOptions {
  std::uint64_t seed = 1;        // of draws
  Index samples = 0;             // random subsets; 0: the chooser's default
  RecordedScores recorded = {};  // of metrics that read what training recorded

  /// Throws UsageError for a negative number of samples.
  void check() const;
};

/// Removes the least important heads by a metric (see head_metric.hpp), measured on the examples of
/// the game. Throws UsageError for an unknown name, with the nearest; the chooser throws if the
/// metric has no scores of the model.
Chooser by_metric(const std::string& metric, const ChooserOptions& options = {});
/// The same, but removes the most important heads: the control that must do worse than chance.
Chooser worst_first(const std::string& metric, const ChooserOptions& options = {});
/// Backward elimination: removes the head without which v is lowest, then measures again.
Chooser greedy();
/// Fits v(S) = c + sum_i a_i r_i + sum_{i<j} b_ij r_i r_j, with r_i = 1 for removed heads, to
/// random subsets (default: 20 for each player) without about `remove` heads, by ridge regression
/// with a penalty on the b_ij. Removes the set with the lowest fitted loss.
Chooser pairwise(const ChooserOptions& options = {});
/// The same with few pairs: s_i = 1 for heads that are present, else -1, and v(S) = c + sum_i a_i
/// s_i + sum of b_ij s_i s_j over some pairs, fitted by least squares to fewer random subsets
/// (default: sparse_pairs_samples for each player). The pairs are added one by one, each time the
/// one whose term correlates best with what the fit leaves of v (orthogonal matching pursuit).
/// Their number, at most that of the players, has the smallest error in a cross-validation over 5
/// parts of the subsets.
Chooser sparse_pairs(const ChooserOptions& options = {});
inline constexpr Index sparse_pairs_samples = 8;
/// The same for the second-order expansion of v in the gates at 1: a_i = -g_i + H_ii / 2 and
/// b_ij = H_ij, with gradient g and H_ij = (D_ij + D_ji) / 2, D_ij = (g_j at gate_i = 1.1 - g_j at
/// gate_i = 0.9) / 0.2. The step 0.1 belongs to the definition, in both precisions: the loss of a
/// ReLU network has no second derivative in the gates, because its gradient is piecewise smooth
/// with jumps.
Chooser quadratic();

/// Removes the set with the lowest v of `samples` random ones that the budget allows (default:
/// random_search_samples). It costs forward passes only, as many as there are samples, so it is the
/// baseline of every chooser and metric at the same cost. The same seed draws the same sets.
Chooser random_search(const ChooserOptions& options = {});
inline constexpr Index random_search_samples = 8;

/// The description of a chooser.
struct ChooserInfo {
  std::string name;
  std::string formula;
  std::string source;
  /// Passes over the examples for N players: "N^2/2 F" (forward), "2N B" (forward and backward).
  std::string cost;
};

/// A chooser and how to make it.
struct ChooserEntry {
  ChooserInfo info;
  std::function<Chooser(const ChooserOptions& options)> make;
};

/// All choosers that are not just a metric: those of headroom, then those that were added.
const std::deque<ChooserEntry>& head_choosers();
/// Registers a chooser of one's own. Call it before any thread starts. Throws UsageError for a name
/// that is empty or taken, and for an empty function.
void add_head_chooser(ChooserEntry entry);
/// The chooser of this name; if there is none, by_metric() of the metric of this name. Throws
/// UsageError for an unknown name, with the nearest.
ChooserEntry head_chooser(const std::string& name);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
