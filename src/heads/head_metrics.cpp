// The registry of metrics, and the pass over the examples that all of them share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/heads/head_metric.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/evaluation.hpp"
#include "heads/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<MetricEntry>& registry() {
  // One metric per line.
  // clang-format off
  static std::vector<MetricEntry> entries{
      metric_random(),
      metric_depth(),
      metric_magnitude(),
      metric_attention_l1(),
      metric_attention_l2(),
      metric_position_variance(),
      metric_entropy(),
      metric_confidence(),
      metric_sensitivity(),
      metric_taylor(),
      metric_fisher(),
      metric_leave_one_out(),
  };
  // clang-format on
  return entries;
}

/// The gradients of the gates by example and head, [examples, heads]. Throws UsageError if the loss
/// does not depend on gates.
Array gradients_of_gates(const HeadProbe& probe, std::span<const HeadId> heads, Index examples) {
  Array gradients = zeros({examples, std::ssize(heads)});
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Tensor& gates = probe.gates.at({heads[h].kind, heads[h].layer});
    if (!gates.grad().defined()) {
      // Without any head in the cross-attentions, the encoder does not change the loss.
      if (gates.reached_by_backward()) continue;
      throw UsageError(
          "importance: the loss does not depend on the gates; give the probe to the model's "
          "forward pass");
    }
    for (Index b = 0; b < examples; ++b) {
      gradients[b * std::ssize(heads) + Index(h)] = gates.grad()[b * gates.dim(1) + heads[h].head];
    }
  }
  return gradients;
}

/// Runs the metrics over batches.
class Measurement {
 public:
  Measurement(Learner& learner, const std::vector<std::unique_ptr<HeadMetric>>& metrics)
      : model_(learner.model()),
        attentions_(attentions(model_)),
        heads_(live_heads(model_)),
        metrics_(metrics) {
    for (const auto& metric : metrics_) {
      const MetricNeeds needs = metric->needs();
      needs_.maps = needs_.maps || needs.maps;
      needs_.gate_gradients = needs_.gate_gradients || needs.gate_gradients;
    }
    for (const HeadId& head : heads_) {
      const bool first = rows_.empty() || before_.kind != head.kind || before_.layer != head.layer;
      rows_.push_back(first ? 0 : rows_.back() + 1);
      before_ = head;
    }
  }

  const std::vector<HeadId>& heads() const { return heads_; }
  bool looks_at_batches() const { return needs_.maps || needs_.gate_gradients; }
  bool goes_back() const { return needs_.gate_gradients; }

  void see(const ProbedBatch& batch) {
    HeadProbe probe;
    probe.maps = probe.rows = needs_.maps;
    if (needs_.gate_gradients) {
      for (const NamedAttention& found : attentions_) {
        probe.gates[found.location()] =
            parameter(ones({batch.examples, found.attention->config().heads}));
      }
      zero_grad(model_);
      sum(batch.losses(probe)).backward();
    } else {
      const NoGrad quiet;
      batch.logits(probe);
    }
    Evidence evidence{heads_, batch.examples, probe, rows_, {}};
    if (needs_.gate_gradients) {
      evidence.gate_gradients = gradients_of_gates(probe, heads_, batch.examples);
    }
    for (const auto& metric : metrics_) metric->see(evidence);
    zero_grad(model_);
  }

 private:
  Module& model_;
  std::vector<NamedAttention> attentions_;
  std::vector<HeadId> heads_;
  const std::vector<std::unique_ptr<HeadMetric>>& metrics_;
  MetricNeeds needs_;
  std::vector<Index> rows_;  // Evidence::row_of_head
  HeadId before_;
};

}  // namespace

const std::vector<MetricEntry>& head_metrics() { return registry(); }

void add_head_metric(MetricEntry entry) {
  const std::string& name = entry.info.name;
  const bool taken = std::any_of(registry().begin(), registry().end(),
                                 [&](const MetricEntry& other) { return other.info.name == name; });
  if (name.empty() || taken || !entry.make) {
    throw UsageError(fmt::format("add_head_metric: \"{}\" is {}", name,
                                 name.empty() ? "no name"
                                 : taken      ? "the name of another metric"
                                              : "registered without a function"));
  }
  registry().push_back(std::move(entry));
}

const MetricEntry& head_metric(const std::string& name) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : registry()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  throw UsageError(fmt::format("metric \"{}\" is unknown{}", name, did_you_mean(name, names)));
}

std::vector<HeadScore> ImportanceTable::importance(const std::string& metric) const {
  for (const Column& column : columns) {
    if (column.info.name != metric) continue;
    std::vector<HeadScore> scores;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      scores.push_back({heads[i], column.info.keep_low ? -column.scores[i] : column.scores[i]});
    }
    return scores;
  }
  throw UsageError(fmt::format("importance: {} was not measured", metric));
}

ImportanceTable measure_importance(Learner& learner, const std::vector<std::string>& names,
                                   const ImportanceOptions& options) {
  std::vector<std::unique_ptr<HeadMetric>> metrics;
  ImportanceTable table;
  for (const std::string& name : names) {
    const MetricEntry& entry = head_metric(name);
    table.columns.push_back({entry.info, {}});
    metrics.push_back(entry.make());
  }
  const EvalMode now(learner.model());
  Measurement measurement(learner, metrics);
  table.heads = measurement.heads();
  for (const auto& metric : metrics) {
    metric->begin({learner.model(), table.heads, options.seed});
  }
  if (measurement.looks_at_batches()) {
    learner.visit(options.set, options.examples,
                  [&](const ProbedBatch& batch) { measurement.see(batch); });
    table.forward = 1;
    table.backward = measurement.goes_back() ? 1 : 0;
  }
  const bool plays = std::any_of(metrics.begin(), metrics.end(),
                                 [](const auto& metric) { return metric->plays(); });
  if (plays) {
    HeadGame game(learner, options.set, options.examples);
    for (const auto& metric : metrics) {
      if (metric->plays()) metric->play(game);
    }
    table.forward += game.passes();
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) table.columns[i].scores = metrics[i]->scores();
  return table;
}

std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b) {
  const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                               [](const auto& x, const auto& y) { return x.head == y.head; });
  if (!same) throw UsageError("added: the scores are of different heads");
  std::vector<HeadScore> sums = a;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].score += b[i].score;
  return sums;
}

std::vector<HeadId> least_important_first(std::vector<HeadScore> scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.score < b.score; });
  std::vector<HeadId> heads;
  for (const HeadScore& score : scores) heads.push_back(score.head);
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
