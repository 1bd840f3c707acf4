// Metrics of importance: each scores the heads of a model from the same evidence.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/heads/head_game.hpp"
#include "headroom/heads/head_share.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A head with its score.
struct HeadScore {
  HeadId head;
  double score = 0;
};

/// The description of a metric.
struct MetricInfo {
  std::string name;       // "sensitivity"
  std::string formula;    // "E_x |dL(x)/dg_h|"
  std::string source;     // "Michel, Levy and Neubig 2019, equation 2"
  bool keep_low = false;  // the heads with low scores are the important ones
};

/// The evidence of each batch that a metric needs.
struct MetricNeeds {
  bool maps = false;  // attention weights and their row statistics
  bool gate_gradients = false;
};

/// One batch, as every metric sees it. Means over examples are means over all batches.
struct Evidence {
  std::span<const HeadId> heads;  // the live heads, in the order of live_heads()
  Index examples;
  const HeadProbe& probe;  // after the forward pass
  /// The row of a head in the results of its attention, which hold live heads only.
  std::span<const Index> row_of_head;
  Array gate_gradients;  // [examples, heads]: dL(x)/dg_h at g = 1
};

/// The model that is measured.
struct MetricSubject {
  Module& model;
  std::span<const HeadId> heads;  // as in Evidence
  std::uint64_t seed;             // of metrics that draw
};

/// A metric at work. It never runs the model itself: it sees each batch once, and asks the game.
class HeadMetric {
 public:
  virtual ~HeadMetric() = default;
  virtual MetricNeeds needs() const { return {}; }
  virtual void begin([[maybe_unused]] const MetricSubject& subject) {}
  virtual void see([[maybe_unused]] const Evidence& batch) {}
  /// Whether play() is called, once, after all batches.
  virtual bool plays() const { return false; }
  virtual void play([[maybe_unused]] HeadGame& game) {}
  /// In the order of the live heads.
  virtual std::vector<double> scores() const = 0;
};

/// A metric and how to make it.
struct MetricEntry {
  MetricInfo info;
  std::function<std::unique_ptr<HeadMetric>()> make;
};

/// All metrics: those of headroom, then those that were added.
const std::vector<MetricEntry>& head_metrics();
/// Registers a metric of one's own. Call it before any thread starts. Throws UsageError for a name
/// that is empty or taken, and for an empty function.
void add_head_metric(MetricEntry entry);
/// Throws UsageError for an unknown name, with the nearest.
const MetricEntry& head_metric(const std::string& name);

/// The examples that are measured on.
struct ImportanceOptions {
  ExampleSet set = ExampleSet::importance;
  Index examples = 500;    // at most
  std::uint64_t seed = 1;  // of metrics that draw
};

/// The scores of all live heads by several metrics.
struct ImportanceTable {
  struct Column {
    MetricInfo info;
    std::vector<double> scores;  // in the order of `heads`
  };
  std::vector<HeadId> heads;  // as live_heads()
  std::vector<Column> columns;
  Index forward = 0, backward = 0;  // passes over the examples

  /// The scores by one metric, those of a metric with keep_low negated: larger is more important.
  /// Throws UsageError if it is not in the table.
  std::vector<HeadScore> importance(const std::string& metric) const;
};

/// Measures the heads of a learner's model, in evaluation mode, by the named metrics. All metrics
/// that look at batches share one pass. Gradients are left as zero_grad() leaves them. Throws
/// UsageError for an unknown name and for a set without examples.
ImportanceTable measure_importance(Learner& learner, const std::vector<std::string>& metrics,
                                   const ImportanceOptions& options = {});

/// Sum of two scores of the same heads (for heads that two models remove together). Throws
/// UsageError when the heads differ.
std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b);

/// Heads by rising score; equal scores in the order of HeadId.
std::vector<HeadId> least_important_first(std::vector<HeadScore> scores);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
