// The registry of metrics, and the measurement of heads by several of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "headroom/base/error.hpp"
#include "headroom/base/registry.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/evidence_pass.hpp"
#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Registry<MetricEntry>& registry() {
  static Registry<MetricEntry> all("metric", [] {
    std::deque<MetricEntry> entries;
    for (const auto& family :
         {control_metrics(), attention_metrics(), output_metrics(), gradient_metrics(),
          recorded_metrics(), gating_metrics(), game_metrics()}) {
      entries.insert(entries.end(), family.begin(), family.end());
    }
    return entries;
  }());
  return all;
}

}  // namespace

const std::deque<MetricEntry>& head_metrics() { return registry().all(); }
void add_head_metric(MetricEntry entry) { registry().add(std::move(entry)); }
const MetricEntry& head_metric(const std::string& name) { return registry().at(name, "metric"); }

MetricNeeds& MetricNeeds::operator|=(const MetricNeeds& other) {
  maps |= other.maps;
  head_outputs |= other.head_outputs;
  gate_gradients |= other.gate_gradients;
  token_gate_gradients |= other.token_gate_gradients;
  parameter_gradients |= other.parameter_gradients;
  logit_gradients |= other.logit_gradients;
  return *this;
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
  for (const auto& [info, reason] : absent) {
    if (info.name == metric) throw UsageError(fmt::format("metric {}: {}", metric, reason));
  }
  throw UsageError(fmt::format("importance: {} was not measured", metric));
}

namespace {

/// Measures all heads; metrics play the shared game, or one of their own.
ImportanceTable measured(Learner& learner, const std::vector<std::string>& names,
                         const ImportanceOptions& options, HeadGame* shared) {
  const EvalMode now(learner.model());
  ImportanceTable table;
  table.heads = live_heads(learner.model());
  const MetricSubject subject{learner.model(), table.heads, options.seed, options.recorded};
  std::vector<std::unique_ptr<HeadMetric>> metrics;
  MetricNeeds needs;
  bool plays = false;
  for (const std::string& name : names) {
    const MetricEntry& entry = head_metric(name);
    std::unique_ptr<HeadMetric> metric = entry.make();
    metric->begin(subject);
    if (const std::string reason = metric->absent(); !reason.empty()) {
      table.absent.push_back({entry.info, reason});
      continue;
    }
    needs |= metric->needs();
    plays = plays || metric->plays();
    table.columns.push_back({entry.info, {}, {}});
    metrics.push_back(std::move(metric));
  }
  if (needs.any()) {
    EvidencePass pass(learner.model(), needs, options.seed);
    learner.visit(options.set, options.examples, [&](const ProbedBatch& batch) {
      table.examples += batch.examples;
      pass.run(batch, [&](const Evidence& evidence) {
        for (const auto& metric : metrics) metric->see(evidence);
      });
    });
    table.forward = 1;
    table.backward = Index{needs.loss_gradients()};
    if (needs.logit_gradients) table.backward += logit_directions;
  }
  if (plays) {
    std::optional<HeadGame> own;
    if (shared == nullptr) own.emplace(learner, options.set, options.examples);
    HeadGame& game = shared == nullptr ? *own : *shared;
    if (!needs.any()) table.examples = game.examples();
    const Index passes = game.passes(), gradient_passes = game.gradient_passes();
    for (const auto& metric : metrics) {
      if (metric->plays()) metric->play(game);
    }
    table.backward += game.gradient_passes() - gradient_passes;
    table.forward += game.passes() - passes + game.gradient_passes() - gradient_passes;
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    table.columns[i].scores = metrics[i]->scores();
    table.columns[i].details = metrics[i]->details();
  }
  return table;
}

}  // namespace

ImportanceTable measure_importance(Learner& learner, const std::vector<std::string>& names,
                                   const ImportanceOptions& options) {
  return measured(learner, names, options, nullptr);
}

ImportanceTable measure_importance(HeadGame& game, const std::vector<std::string>& names,
                                   const ImportanceOptions& options) {
  if (game.players() != live_heads(game.model())) {
    throw UsageError("importance: a game of some heads only; metrics measure all live heads");
  }
  ImportanceOptions own = options;
  own.set = game.set();
  own.examples = game.most();
  return measured(game.learner(), names, own, &game);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
