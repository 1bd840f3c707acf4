// Learned gates in training: which heads are left, that the rest of the model is as it should be,
// what a checkpoint shows.
#include "headroom_measure/pruning/learned_gates.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/surgery/drop_head.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/small_settings.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

GateOptions options_of(const std::string& method) {
  return {.method = method, .keep = 5, .budget = {.at_least_of_kind = 0}, .begin = 3, .end = 12};
}

/// A run with learned gates and DropHead.
struct Gated {
  explicit Gated(const GateOptions& options, Index steps = 16, double drop = 0.2)
      : run(small_settings(steps, Real(0.1)), small_task()),
        gates(run.optimizer(), options, 11),
        drop_head(drop, steps) {
    run.add("drop_head", drop_head);
    run.add("gates", gates);
  }
  std::vector<Array> values() {
    std::vector<Array> arrays;
    for (const NamedParameter& own : parameters(run.model())) {
      arrays.push_back(own.tensor.value().clone());
    }
    return arrays;
  }
  TrainingRun run;
  LearnedGates gates;
  DropHead drop_head;
};

std::vector<HeadScore> live_scores(const Gated& gated) {
  std::vector<HeadScore> scores;
  for (const HeadHistory& head : gated.gates.outcome()) {
    if (!head.removed_at) scores.push_back({head.id, *head.importance});
  }
  return scores;
}

/// The parameters after the update of a step, before the parts that come later change them.
class Snapshot : public StepPart {
 public:
  Snapshot(Module& model, Index step) : model_(&model), step_(step) {}
  void after_update(StepReport& report) override {
    if (report.step != step_) return;
    for (const NamedParameter& own : parameters(*model_))
      values.push_back(own.tensor.value().clone());
  }
  std::vector<Array> values;

 private:
  Module* model_;
  Index step_;
};

/// The logits of all examples of the selection set, one array after the other.
std::vector<double> logits_of_selection(Learner& learner,
                                        const std::map<AttentionLocation, Tensor>& gates) {
  const Evaluating now(learner.model());
  std::vector<double> all;
  learner.visit(ExampleSet::selection, 100, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    probe.gates = gates;
    const Tensor logits = batch.logits(probe);
    for (const Real x : logits.value().span()) all.push_back(double(x));
  });
  return all;
}

}  // namespace

TEST_CASE("with every method the cut model has the outputs of the gated one", "[slow]") {
  Index other_than_one = 0;
  for (const GateMethodEntry& entry : gate_methods()) {
    INFO(entry.name);
    GateOptions options = options_of(entry.name);
    options.rate = 0.5;
    const TrainingSettings settings = small_settings(12, Real(0.1));
    TrainingRun run(settings, small_task()), whole(settings, small_task());
    Snapshot snapshot(run.model(), options.end);
    LearnedGates gates(run.optimizer(), options, 11);
    run.add("snapshot", snapshot);
    run.add("gates", gates);
    run.run();
    std::vector<NamedParameter> all = parameters(whole.model());
    REQUIRE(snapshot.values.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].tensor.set_value(snapshot.values[i]);

    const std::vector<double> last = entry.make(options)->final_gates(gates.scores());
    const std::vector<HeadId> kept = live_heads(run.model());
    REQUIRE(kept.size() == 5);
    std::map<AttentionLocation, Array> values;
    for (const NamedAttention& found : attentions(whole.model())) {
      values[found.location()] = zeros({4});
    }
    for (std::size_t i = 0; i < last.size(); ++i) {
      const HeadId& head = gates.heads()[i];
      if (std::find(kept.begin(), kept.end(), head) == kept.end()) continue;
      values.at({head.kind, head.layer})[head.head] = Real(last[i]);
      other_than_one += last[i] != 1;
    }
    std::map<AttentionLocation, Tensor> given;
    for (const auto& [location, of_heads] : values) given[location] = constant(of_heads);
    const std::vector<double> before = logits_of_selection(whole.learner(), given),
                              after = logits_of_selection(run.learner(), {});
    REQUIRE(before.size() == after.size());
    double most = 0, apart = 0;
    const std::vector<double> open = logits_of_selection(whole.learner(), {});
    for (std::size_t i = 0; i < before.size(); ++i) {
      most = std::max(most, std::abs(before[i] - after[i]));
      apart = std::max(apart, std::abs(before[i] - open[i]));
    }
    CHECK(most < double(tolerance(1e-12, 1e-5)));
    CHECK(apart > 1e-3);
  }
  CHECK(other_than_one >= 5);
}

TEST_CASE("every method ends with exactly the heads of the highest scores, and folded gates") {
  for (const GateMethodEntry& entry : gate_methods()) {
    INFO(entry.name);
    Gated gated(options_of(entry.name));
    for (Index step = 1; step <= 16; ++step) {
      INFO("step " << step);
      const StepReport report = gated.run.step();
      CHECK(report.heads_alive == (step < 12 ? 12 : 5));
      CHECK(report.settled == (step >= 12));
      CHECK(report.metrics.contains("open_heads") == (step > 3 && step <= 12));
      CHECK(gated.gates.gates().empty() == (step <= 3 || step > 12));
      CHECK(gated.gates.heads().size() == (step <= 3 ? 0 : 12));
    }
    CHECK(gated.gates.state().steps == 9);
    double lowest_kept = 1e300;
    for (const HeadScore& kept : live_scores(gated)) {
      lowest_kept = std::min(lowest_kept, kept.score);
    }
    CHECK(live_scores(gated).size() == 5);
    const std::vector<double>& scores = gated.gates.scores();
    CHECK(std::count_if(scores.begin(), scores.end(),
                        [&](double score) { return score > lowest_kept; }) == 4);

    RunRecord page;
    add_history(page, gated.gates.history(), "fused", 16);
    REQUIRE(page.heads.size() == 12);
    Index removed = 0;
    for (std::size_t i = 0; i < page.heads.size(); ++i) {
      CHECK(page.heads[i].importance.of("fused") ==
            scores[i] - *std::min_element(scores.begin(), scores.end()));
      CHECK(gated.gates.outcome()[i].importance == scores[i]);
      CHECK(gated.gates.outcome()[i].removed_at == page.heads[i].removed_at);
      if (page.heads[i].removed_at) CHECK(*page.heads[i].removed_at == 12);
      removed += page.heads[i].removed_at ? 1 : 0;
    }
    CHECK(removed == 7);
    CHECK(page.schedule == std::vector<ScheduleLine>{{0, 12}, {12, 5}, {16, 5}});
  }
}

TEST_CASE("a checkpoint has the values of gates as scores of their metric") {
  const TemporaryFolder folder;
  for (const GateMethodEntry& entry : gate_methods()) {
    INFO(entry.name);
    Gated gated(options_of(entry.name));
    gated.run.run();
    gated.run.save(folder / "end");
    const RecordedScores recorded = recorded_scores(folder / "end");
    CHECK(recorded.size() == (entry.metric.empty() ? 0 : 1));
    if (entry.metric.empty()) continue;
    const std::vector<HeadScore>& scores = recorded.at(entry.metric);
    REQUIRE(scores.size() == 12);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      CHECK(scores[i].head == gated.gates.heads()[i]);
      CHECK(scores[i].score == gated.gates.scores()[i]);
    }
    const ImportanceTable table =
        measure_importance(gated.run.learner(), {entry.metric}, {.recorded = recorded});
    REQUIRE(table.columns.size() == 1);
    CHECK(table.columns[0].scores.size() == 5);
  }
}

TEST_CASE("the last step folds the gates of its heads into the model that it leaves") {
  for (const char* name : {"frozen", "hard_concrete"}) {
    Gated gated({.method = name, .keep = 5, .begin = 3, .end = 12, .rate = 0.9, .penalty = 1}, 16,
                0);
    while (gated.run.steps() < 11) gated.run.step();
    std::map<HeadId, Array> before;
    const auto outputs = [&] {
      std::map<HeadId, Array> blocks;
      for (const NamedAttention& found : attentions(gated.run.model())) {
        for (const auto& [place, block] : head_values(*found.attention)) {
          if (place.first == HeadRole::output) blocks[found.id(place.second)] = block;
        }
      }
      return blocks;
    };
    before = outputs();
    gated.run.step();
    bool other_than_one = false;
    for (const HeadScore& kept : live_scores(gated)) {
      if (std::string(name) != "frozen") continue;  // its parameters do not move in the step
      Array expected = before.at(kept.head);
      for (Real& x : expected.span()) x *= Real(kept.score);
      CHECK_THAT(outputs().at(kept.head), SameBits(expected));
      other_than_one = other_than_one || kept.score != 1;
    }
    CHECK((other_than_one || std::string(name) != "frozen"));
    CHECK(outputs().size() == 5);
  }
}

TEST_CASE("frozen methods leave parameters and moments as they are until the end") {
  for (const char* name : {"frozen", "frozen_top_k", "movement"}) {
    INFO(name);
    for (const Index begin : {0, 3}) {  // also before the optimizer has seen a gradient
      GateOptions options = options_of(name);
      options.begin = begin;
      Gated gated(options);
      while (gated.run.steps() < begin) gated.run.step();
      const std::vector<Array> before = gated.values();
      const auto moments = gated.run.optimizer().states();
      while (gated.run.steps() < 11) gated.run.step();
      const std::vector<Array> after = gated.values();
      Index moved = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        moved += SameBits(before[i]).match(after[i]) ? 0 : 1;
      }
      CHECK((moved == 0) == (std::string(name) != "movement"));
      for (const auto& [parameter, state] : gated.run.optimizer().states()) {
        CHECK((state.steps == moments.at(parameter).steps) == (moved == 0));
      }
      while (gated.run.steps() < 16) gated.run.step();
      std::int64_t most = 0;
      for (const auto& [parameter, state] : gated.run.optimizer().states()) {
        for (const std::int64_t count : state.steps) most = std::max(most, count);
      }
      CHECK(most == (moved == 0 ? 16 - 12 + begin : 16));
    }
  }
}

TEST_CASE("hard concrete gates reach their target while a model learns to reverse") {
  Gated gated({.method = "hard_concrete", .keep = 4, .begin = 10, .end = 260}, 260, 0);
  double open = 12;
  while (gated.run.steps() < 260) {
    const StepReport report = gated.run.step();
    if (report.metrics.contains("open_heads")) {
      open = report.metrics["open_heads"].get<double>();
    }
  }
  INFO("open " << open);
  CHECK(std::abs(open - 4) < 0.5);
  CHECK(live_heads(gated.run.model()).size() == 4);
}

TEST_CASE("gates of another part are multiplied, each attention keeps what it must") {
  GateOptions options = options_of("subset");
  options.budget.at_least = 1;
  Gated gated(options);
  struct Shut : StepPart {
    void begin(Index, HeadProbe& probe) override {
      for (const AttentionKind kind : all_of<AttentionKind>()) {
        Array gates = ones({4});
        gates[0] = 0;
        gates[1] = Real(0.5);
        probe.gates[{kind, 0}] = constant(gates);
      }
    }
  } shut;
  TrainingRun run(small_settings(16, Real(0.1)), small_task());
  LearnedGates gates(run.optimizer(), options, 11);
  struct Watch : StepPart {
    void begin(Index, HeadProbe& probe) override {
      seen = probe.gates.at({AttentionKind::cross, 0}).value();
    }
    Array seen;
  } watch;
  run.add("shut", shut);
  run.add("gates", gates);
  run.add("watch", watch);
  for (int step = 1; step <= 12; ++step) {
    run.step();
    if (step <= 3) continue;
    for (Index head = 0; head < 4; ++head) {  // cross-attention comes last
      const Real other = head == 0 ? Real(0) : head == 1 ? Real(0.5) : Real(1);
      CHECK(watch.seen[head] == other * Real(gates.gates()[static_cast<std::size_t>(8 + head)]));
    }
  }
  for (const NamedAttention& found : attentions(run.model())) {
    CHECK_FALSE(found.attention->alive().empty());
  }
  CHECK(live_heads(run.model()).size() == 5);
}

TEST_CASE("what cannot work is refused by its cause") {
  const auto construct = [](GateOptions options) { Gated gated(options); };
  GateOptions options = options_of("subset");
  options.keep = 13;
  CHECK_THROWS_WITH(construct(options), Contains("13 of 12 heads cannot be kept"));
  options = options_of("subset");
  options.budget.at_least = 2;
  CHECK_THROWS_WITH(construct(options), Contains("at most 6 can"));
  options = options_of("subsets");
  CHECK_THROWS_WITH(construct(options), Contains("did you mean subset?"));

  Gated cut(options_of("movement"));
  while (cut.run.steps() < 5) cut.run.step();
  const std::vector<HeadId> one = {{AttentionKind::cross, 0, 1}};
  cut.run.optimizer().apply(prune(cut.run.model(), one));
  CHECK_THROWS_WITH(cut.run.step(), Contains("the heads of the model changed"));

  const auto refused = [](const Record& heads, const Record& learned, const char* words) {
    TensorFile file;
    StateWriter(file).record("heads", heads);
    StateWriter(file).record("learned", learned);
    Gated gated(options_of("subset"));
    CHECK_THROWS_AS(gated.gates.load_state(StateReader(file)), FileError);
    CHECK_THROWS_WITH(gated.gates.load_state(StateReader(file)), Contains(words));
  };
  const Record head{{"kind", "cross"}, {"layer", 0}, {"head", 1}};
  Record learned{
      {"values", {1.5}}, {"first", {0.0}}, {"second", {0.0}}, {"multiplier", 0}, {"steps", 1}};
  Record other = head;
  other["head"] = 0;
  refused(Record::array({head, other}), learned, "1 numbers for 2 heads");
  refused(Record::array({head, head}), learned, "named twice");
  other["kind"] = "diagonal";
  refused(Record::array({other}), learned, "diagonal");
  learned["values"] = "many";
  refused(Record::array({head}), learned, "values must be a list");
}
