// TrainingScores: against gates in the forward pass, over removals, and in a checkpoint.
#include "headroom_measure/pruning/training_scores.hpp"

#include <cmath>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_measure/pruning/pruner.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "support/catch.hpp"
#include "support/small_settings.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

/// Puts gates of 1 into every forward pass, and sums up their gradients.
class GateSums : public StepPart {
 public:
  explicit GateSums(Module& model) : model_(&model) {}
  void begin(Index, HeadProbe& probe) override {
    for (const NamedAttention& found : attentions(*model_)) {
      gates_[found.location()] = parameter(ones({found.attention->config().heads}));
    }
    probe.gates = gates_;
  }
  void after_backward() override {
    for (const HeadId& head : live_heads(*model_)) {
      const auto g = double(gates_.at({head.kind, head.layer}).grad()[head.head]);
      absolute[head] += std::abs(g);
      sum[head] += g;
      ++steps[head];
    }
  }
  std::map<HeadId, double> absolute, sum;
  std::map<HeadId, Index> steps;

 private:
  Module* model_;
  std::map<AttentionLocation, Tensor> gates_;
};

TrainingSettings settings_of(Layout layout) {
  TrainingSettings settings = small_settings(12);
  settings.model.block.layout = layout;
  return settings;
}

/// A run that records scores and removes heads.
struct Recorded {
  explicit Recorded(Layout layout = Layout::fused)
      : run(settings_of(layout), small_task()),
        pruner(run.learner(), run.optimizer(),
               {.remove = 5, .pace = Gradual{.from = 4, .to = 10, .every = 2}}),
        scores(run.model()) {
    run.add("pruning", pruner);
    run.add("scores", scores);
  }
  TrainingRun run;
  Pruner pruner;
  TrainingScores scores;
};

}  // namespace

TEST_CASE("training scores are those of gates in the forward pass, also of removed heads") {
  for (const Layout layout : {Layout::separate, Layout::fused, Layout::shared}) {
    Recorded recorded(layout);
    GateSums gates(recorded.run.model());
    recorded.run.add("gates", gates);
    CHECK(recorded.scores.scores().empty());
    recorded.run.run();
    RecordedScores scores = recorded.scores.scores();
    REQUIRE(scores.at("movement").size() == 12);
    REQUIRE(scores.at("running_sensitivity").size() == 12);
    Index all_steps = 0;
    for (const auto& [head, score] : scores.at("running_sensitivity")) {
      INFO(head.text());
      const double wanted = gates.absolute.at(head) / double(gates.steps.at(head));
      CHECK(wanted > 0);
      CHECK(std::abs(score - wanted) < (is_double ? 1e-12 : 1e-5));
      all_steps += gates.steps.at(head);
    }
    for (const auto& [head, score] : scores.at("movement")) {
      CHECK(std::abs(score + gates.sum.at(head)) < (is_double ? 1e-12 : 1e-4));
    }
    CHECK(all_steps < 12 * 12);  // some were removed

    const ImportanceTable table = measure_importance(
        recorded.run.learner(), {"running_sensitivity", "movement"}, {.recorded = scores});
    REQUIRE(table.columns.size() == 2);
    CHECK(table.heads.size() == 7);
    CHECK(table.forward == 0);
  }
}

TEST_CASE("a checkpoint shows the scores, to the bit") {
  const TemporaryFolder folder;
  Recorded whole;
  whole.run.run();
  whole.run.save(folder / "end");
  const RecordedScores read = recorded_scores(folder / "end"), kept = whole.scores.scores();
  REQUIRE(read.size() == 2);
  for (const auto& [name, scores] : kept) {
    REQUIRE(read.at(name).size() == scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      CHECK(read.at(name)[i].head == scores[i].head);
      CHECK(read.at(name)[i].score == scores[i].score);
    }
  }
}

TEST_CASE("a checkpoint without training scores has none, and a broken one is refused") {
  const TemporaryFolder folder;
  TrainingRun plain(settings_of(Layout::fused), small_task());
  plain.step();
  plain.save(folder / "plain");
  CHECK(recorded_scores(folder / "plain").empty());
  TrainingRun later(settings_of(Layout::fused), small_task());
  TrainingScores scores(later.model());
  later.add("scores", scores);
  later.load(folder / "plain");
  CHECK(scores.scores().empty());
  later.step();
  CHECK(scores.scores().at("movement").size() == 12);
  const double before = scores.scores().at("movement")[0].score;
  scores.after_backward();  // of a step that then fails: no update follows
  CHECK(scores.scores().at("movement")[0].score == before);

  TensorFile broken = TensorFile::read(folder / "plain");
  broken.metadata["any.scores"] = R"({"movement":[{"kind":"cross"}]})";
  broken.write(folder / "broken");
  CHECK_THROWS_WITH(recorded_scores(folder / "broken"), Contains("any.scores"));

  later.save(folder / "later");
  TensorFile no_step = TensorFile::read(folder / "later");
  no_step.metadata.erase("checksums");
  std::string& sums = no_step.metadata.at("scores.sums");
  sums.replace(sums.find("\"steps\":1"), 9, "\"steps\":0");
  no_step.write(folder / "no_step");
  CHECK_THROWS_WITH(later.load(folder / "no_step"), Contains("no step"));
}
