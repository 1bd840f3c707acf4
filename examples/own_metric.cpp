// A metric of your own: the share of examples whose loss would rise if the head got weaker.
#include <cstdio>

#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_runs/runs/training_run.hpp"

using namespace headroom;

class Help : public HeadMetric {
  MetricNeeds needs() const override { return {.gate_gradients = true}; }
  void begin(const MetricSubject& subject) override { helped_.resize(subject.heads.size()); }
  void see(const Evidence& batch) override {
    for (Index i = 0; i < batch.gate_gradients.size(); ++i) {  // [examples, heads]
      if (batch.gate_gradients[i] < 0) ++helped_[static_cast<std::size_t>(i) % helped_.size()];
    }
    examples_ += batch.examples;
  }
  std::vector<double> scores() const override {
    std::vector<double> shares = helped_;
    for (double& share : shares) share /= double(examples_);
    return shares;
  }
  std::vector<double> helped_;  // the number of examples, of each head
  Index examples_ = 0;
};

int main() {
  add_head_metric({{.name = "help", .formula = "P_x(dL(x)/dg_h < 0)", .source = "this example"},
                   [] { return std::make_unique<Help>(); }});
  TrainingSettings settings;  // the task is "dates"
  settings.model.block = {.width = 32, .heads = 4, .hidden = 64};
  settings.steps = 100;
  settings.derive();
  TrainingRun run(settings, make_task(settings.task, settings.data));
  run.run();
  const ImportanceTable table = measure_importance(run.learner(), {"help", "sensitivity"});
  for (const auto& [head, share] : table.importance("help"))
    std::printf("%-12s helps %5.1f %% of the examples\n", head.text().c_str(), 100 * share);
  return table.backward == 1 ? 0 : 1;  // one backward pass served both
}
