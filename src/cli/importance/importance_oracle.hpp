// The oracle: the loss of every subset of heads, and the regret of each metric and chooser.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/terminal.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/regret.hpp"
#include "headroom_measure/importance/shapley.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The regrets of the heads that a metric or a chooser keeps.
struct OracleChoice {
  std::string name;
  bool is_chooser = false;
  std::vector<Regret> regrets = {};  // by the number of heads kept, 0 to all
};

/// A game with all of its values.
struct ExactGame {
  std::string title;  // "all heads", or the kind of attention
  std::vector<HeadId> players;
  std::vector<double> values = {};   // of 2^players subsets; see shapley.hpp
  std::vector<double> shapley = {};  // exact
  /// Dividends of the triples in the game of the entropy of predictions; see triple_dividends().
  std::vector<double> entropy_triples = {};
  ShapleyAxioms axioms = {};
  SampledCoverage coverage = {};
  std::vector<OracleChoice> choices = {};      // choosers, then metrics
  std::vector<double> best = {}, random = {};  // losses by the number of heads kept
};

/// The exact values of the heads of a model.
struct Oracle {
  /// Metrics and choosers see the examples of one set; the losses of subsets are those of the
  /// examples of another.
  ExampleSet chosen_on = ExampleSet::importance, measured_on = ExampleSet::selection;
  Index chosen_examples = 0, examples = 0;
  /// One game of all live heads if there are at most 12, otherwise one for each kind of attention,
  /// in which the heads of other kinds are present.
  std::vector<ExactGame> games = {};
  /// All live heads, if they are too many for one game.
  std::vector<HeadId> heads = {};
  std::optional<SampledShapley> sampled = {};
};

/// Number of random orders from which Shapley values are sampled.
inline constexpr Index oracle_orders = 40;
/// Number of repetitions, which show how often the intervals contain the exact value.
inline constexpr Index oracle_repeats = 20;

/// Called with the name of a measurement and the share of it that is done.
using OracleProgress = std::function<void(const std::string& what, double share)>;

/// Measures all subsets. Both games have all live heads. Choosers play `choosing`, on whose
/// examples `table` has the metrics; the losses of all subsets are measured on the examples of
/// `measuring`. `seed` and `recorded` of the options are for the choosers. Throws UsageError if a
/// kind has more than 12 heads, and for two games on the same set; NumericError if exact Shapley
/// values violate their axioms by more than 1e-9 of the losses.
Oracle oracle_of(HeadGame& choosing, HeadGame& measuring, const ImportanceTable& table,
                 const ImportanceOptions& options, const OracleProgress& progress);

/// The results as text of at most 80 columns, and as JSON: "games", "oracle" and "sampled_shapley".
std::string oracle_text(const Oracle& oracle, const TerminalStyle& style);
Record oracle_record(const Oracle& oracle);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
