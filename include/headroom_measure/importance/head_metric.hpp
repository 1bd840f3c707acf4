// Metrics of importance: each scores the heads of a model from the same evidence.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/nn/head_share.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "headroom_measure/importance/head_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The description of a metric.
struct MetricInfo {
  std::string name;       // "sensitivity"
  std::string formula;    // "E_x |dL(x)/dg_h|"
  std::string source;     // "Michel, Levy and Neubig 2019, equation 2"
  bool keep_low = false;  // the heads with low scores are the important ones
  /// Passes over the examples: "0", "F" (forward), "B" (forward and backward), "N F" (N heads), ...
  /// Metrics of cost F and B share their passes.
  std::string cost = {};
};

/// The evidence of each batch that a metric needs.
struct MetricNeeds {
  bool maps = false;  // attention weights and their row statistics
  bool head_outputs = false;
  bool gate_gradients = false;
  bool token_gate_gradients = false;
  bool parameter_gradients = false;
  bool logit_gradients = false;

  /// Adds the needs of another metric, so that one pass collects the evidence of both.
  MetricNeeds& operator|=(const MetricNeeds& other);
  bool loss_gradients() const {
    return gate_gradients || token_gate_gradients || parameter_gradients;
  }
  bool any() const { return maps || head_outputs || loss_gradients() || logit_gradients; }
};

/// The number of random directions of the logits in which each example's gradients are measured.
inline constexpr Index logit_directions = 4;

/// One batch, as every metric sees it: the results of one forward pass, one backward pass from the
/// loss and logit_directions from the logits, of which only the needed ones are made. A field that
/// no metric needs is empty. L(x) is the loss of example x, the sum over its labels. Means over
/// examples are means over all batches.
struct Evidence {
  std::span<const HeadId> heads;  // the live heads, in the order of live_heads()
  Index examples;
  const HeadProbe& probe;  // after the forward pass
  /// The row of a head in the results of its attention, which hold live heads only.
  std::span<const Index> row_of_head;
  Ids labels = {};            // as in ProbedBatch
  Array gate_gradients = {};  // [examples, heads]: dL(x)/dg_h at g = 1
  /// For each head, [examples, Tq]: dL(x)/dg_ht at 1, for a gate that multiplies the head's output
  /// at query t only. The sum over t is dL(x)/dg_h.
  std::vector<Array> token_gate_gradients = {};
  /// The share of each head, with the gradients of the sum of L(x) over the batch.
  std::vector<HeadShare> shares = {};
  /// For each direction u, [examples, heads]: d<u, z(x)>/dg_h at g = 1. z(x) are the logits at the
  /// labels of example x; the elements of u are drawn from N(0, 1), by seed, numbers of the example
  /// and of the direction.
  std::vector<Array> logit_gradients = {};
};

/// The model that is measured.
struct MetricSubject {
  Module& model;
  std::span<const HeadId> heads;   // as in Evidence
  std::uint64_t seed;              // of metrics that draw
  const RecordedScores& recorded;  // by training; valid during begin() only
};

/// The numbers and classes that a metric gives the heads, in their order, beside the scores. Most
/// metrics give none.
struct MetricDetails {
  std::map<std::string, std::vector<double>> numbers = {};  // by their name
  std::vector<std::string> classes = {};                    // "facilitating", ...; empty: none
};

/// A metric at work. It never runs the model itself: it sees each batch once, and asks the game.
class HeadMetric {
 public:
  virtual ~HeadMetric() = default;
  virtual MetricNeeds needs() const { return {}; }
  /// Called once, before the first batch.
  virtual void begin([[maybe_unused]] const MetricSubject& subject) {}
  /// After begin(): why there are no scores of this model; empty: there will be some. If there are
  /// none, no other function is called.
  virtual std::string absent() const { return {}; }
  virtual void see([[maybe_unused]] const Evidence& batch) {}
  /// Whether play() is called, once, after all batches.
  virtual bool plays() const { return false; }
  virtual void play([[maybe_unused]] HeadGame& game) {}
  /// In the order of the live heads.
  virtual std::vector<double> scores() const = 0;
  virtual MetricDetails details() const { return {}; }
};

/// A metric and how to make it.
struct MetricEntry {
  MetricInfo info;
  std::function<std::unique_ptr<HeadMetric>()> make;
};

/// All metrics: those of headroom, then those that were added.
const std::deque<MetricEntry>& head_metrics();
/// Registers a metric of one's own. Call it before any thread starts. Throws UsageError for a name
/// that is empty or taken, and for an empty function.
void add_head_metric(MetricEntry entry);
/// Throws UsageError for an unknown name, with the nearest.
const MetricEntry& head_metric(const std::string& name);

/// The examples that are measured on.
struct ImportanceOptions {
  ExampleSet set = ExampleSet::importance;
  Index examples = 500;          // at most
  std::uint64_t seed = 1;        // of metrics that draw
  RecordedScores recorded = {};  // of metrics that read what training recorded
};

/// The scores of all live heads by several metrics.
struct ImportanceTable {
  /// A metric with its scores.
  struct Column {
    MetricInfo info;
    std::vector<double> scores;  // in the order of `heads`
    MetricDetails details = {};
  };
  /// A metric that has no scores of this model.
  struct Absent {
    MetricInfo info;
    std::string reason;
  };
  std::vector<HeadId> heads;  // as live_heads()
  std::vector<Column> columns;
  std::vector<Absent> absent;
  Index examples = 0;               // that were measured on; 0 if no metric needs any
  Index forward = 0, backward = 0;  // passes over them

  /// The scores by one metric, those of a metric with keep_low negated: larger is more important.
  /// Throws UsageError if it is not in the table, with the reason if it is absent.
  std::vector<HeadScore> importance(const std::string& metric) const;
};

/// Measures the heads of a learner's model, in evaluation mode, by the named metrics. All metrics
/// that see batches share one forward pass, one backward pass and logit_directions more from the
/// logits.
/// Gradients are left as zero_grad() leaves them. Throws UsageError for an unknown name and for a
/// set without examples.
ImportanceTable measure_importance(Learner& learner, const std::vector<std::string>& metrics,
                                   const ImportanceOptions& options = {});
/// The same on the examples of a game of all live heads, which remembers what metrics ask it. Of
/// the options, set and examples are the game's own. Throws UsageError for a game of fewer heads.
ImportanceTable measure_importance(HeadGame& game, const std::vector<std::string>& metrics,
                                   const ImportanceOptions& options = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
