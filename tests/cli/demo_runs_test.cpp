// The demo's training runs on a small scale.
#include "cli/demo/demo_runs.hpp"

#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/surgery/transplant.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

namespace {

DemoSetup small_demo() {
  DemoSetup options;
  options.width = 16;
  options.hidden = 32;
  options.batch_size = 8;
  options.learn_steps = 12;
  options.prune_steps = 10;
  options.recover_steps = 4;
  options.measure_every = 100;
  options.telemetry = 5;
  options.validation = 120;
  options.importance_examples = 30;
  return options;
}

/// Learns and removes heads.
void prune(DemoRuns& job, const DemoRuns::OnStep& on_step) {
  REQUIRE(job.learn([](const auto&) { return true; }));
  job.choose_heads();
  REQUIRE(job.remove_heads(on_step));
}

const DemoRuns::OnStep go_on = [](const DemoRuns::Progress&) { return true; };

}  // namespace

TEST_CASE("the demo starts with one function in two layouts and ends with half of the heads") {
  const TemporaryFolder folder;
  DemoRuns job(small_demo(), folder.path());
  const StartDifference same = job.same_function();
  for (const auto& part :
       {std::optional(same.forward), same.parameter_gradient, same.input_gradient}) {
    CHECK(part.value() <= same.tolerance.value());
  }
  CHECK(same.input_gradient.value() > 0);  // was compared, and rounding differs

  Index steps = 0;
  CHECK(job.learn([&](const auto& progress) {
    CHECK(progress.heads_alive == 24);
    return ++steps == progress.step;
  }));
  CHECK(steps == 12);
  job.record_maps();
  CHECK(job.record().examples.size() == 3);
  CHECK(job.record().examples[0].maps.size() == 24);
  CHECK(job.year_reader().share > 0);

  job.choose_heads();
  Index alive = 24;
  CHECK(job.remove_heads([&](const auto& progress) {
    CHECK(progress.heads_alive <= alive);
    alive = progress.heads_alive;
    return true;
  }));
  CHECK(alive == 12);
  CHECK(live_heads(job.separate()) == live_heads(job.fused()));
  job.measure_cost();
  std::vector<DemoCut> cuts;
  CHECK(job.train_arms(
      [&](const DemoCut& cut) {
        cuts.push_back(cut);
        return std::optional(CutResult{double(cut.heads.size()), double(cuts.size())});
      },
      1, [&](Index done, Index all) { CHECK((done == Index(cuts.size()) && all == 16)); }));

  // In this order: before removal, as many steps with all heads, after removal.
  const std::vector<ComparisonRow>& rows = job.record().before_after;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].label == "after 12 steps");
  CHECK(rows[1].label == "after 26 steps, all heads");
  CHECK(rows[2].label == "after 26 steps, 12 heads removed");
  CHECK(rows[0].steps == 12);
  CHECK(rows[1].steps == rows[2].steps);
  CHECK(rows[1].heads == 24);
  CHECK(rows[2].heads == 12);
  CHECK(rows[1].parameters == rows[0].parameters);
  CHECK(rows[1].parameters.mean() > rows[2].parameters.mean());
  // Half of the heads have less arithmetic, above all in attention.
  CHECK(rows[0].step_flops == rows[1].step_flops);
  CHECK(*rows[0].step_flops > 1.05 * *rows[2].step_flops);
  CHECK(*rows[0].attention_flops > 1.2 * *rows[2].attention_flops);
  CHECK(*rows[0].attention_flops < *rows[0].step_flops);
  CHECK(rows[1].exact_match.values().size() == 1);
  CHECK((cuts[0].heads.empty() && cuts[0].setup.steps() == 26));
  CHECK(rows[1].exact_match.of("fused") == 1.0);  // the result of the first run

  const Record summary = json_of(job.summary());
  CHECK(summary["task"] == "dates");
  CHECK(summary["seed"] == 1);
  CHECK(summary["heads_total"] == 24);
  CHECK(summary["heads_alive"] == 12);
  CHECK(summary["step_ms_after"].get<double>() > 0);
  CHECK(summary["separate_vs_fused"] == json_of(same));

  // The removed heads are the twelve with the lowest scores by the demo's metric that leave a head
  // of each kind.
  const std::vector<HeadRecord>& heads = job.record().heads;
  REQUIRE(job.record().criteria.size() == 2);
  CHECK(job.record().criteria[0].name == "sensitivity");
  const CriterionRecord& used = job.record().criteria[1];
  CHECK((used.name == "random_masks" && used.chose));
  std::map<AttentionKind, Index> left;
  for (const HeadRecord& head : heads) left[head.id.kind] += !head.removed_at;
  CHECK(left.size() == 3);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CHECK(heads[i].importance.mean() == used.importance[i]);
    CHECK(heads[i].cost.has_value());
    if (heads[i].removed_at) CHECK(*heads[i].removed_at > 12);
    for (std::size_t j = 0; j < heads.size(); ++j) {
      if (!heads[i].removed_at || heads[j].removed_at || left[heads[j].id.kind] == 1) continue;
      CHECK(used.importance[i] <= used.importance[j]);
    }
  }
  for (const auto& [kind, count] : left) CHECK(count >= 1);

  // The arms: no cut, and for each number of heads the metric's choice, random ones, the costliest.
  const ArmsRecord& arms = job.record().arms.value();
  REQUIRE(arms.arms.size() == 7);
  CHECK(arms.recovery == 4);
  for (std::size_t i = 1; i < cuts.size(); ++i) CHECK(cuts[i].setup.steps() == 12 + 4);
  CHECK(arms.test_examples == 1000);
  CHECK((arms.arms[0].removed == 0 && arms.arms[0].recovered == std::vector<double>{2}));
  CHECK((arms.arms[2].choice == "random" && arms.arms[2].removed == 6));
  CHECK(arms.arms[2].recovered == std::vector<double>{4, 5, 6, 7, 8});
  CHECK((arms.arms[4].choice == "random_masks" && arms.arms[4].cut == std::vector<double>{12}));
  std::set<HeadId> removed, costliest(cuts[8].heads.begin(), cuts[8].heads.end());
  double least_cost = 1e300, most_cost = -1e300;  // of the costliest, of the others
  for (const HeadRecord& head : heads) {
    if (head.removed_at) removed.insert(head.id);
    if (costliest.contains(head.id)) {
      least_cost = std::min(least_cost, *head.cost);
    } else if (left.size() == 3) {
      most_cost = std::max(most_cost, *head.cost);
    }
  }
  CHECK(costliest.size() == 6);
  CHECK(least_cost >= most_cost);
  CHECK(std::set<HeadId>(cuts[9].heads.begin(), cuts[9].heads.end()) == removed);
  CHECK(cuts[3].heads != cuts[4].heads);  // draws differ

  // Sensitivities and costs over the learning steps.
  std::vector<Index> summed;
  for (const ImportanceSums& sums : job.record().importance_sums) summed.push_back(sums.step);
  CHECK(summed == std::vector<Index>{1, 3, 6, 9, 12});

  // Telemetry counts the steps of all parts; a head is in it until its removal.
  std::vector<Index> measured;
  for (const TelemetryLine& line : job.record().telemetry) {
    measured.push_back(line.step);
    CHECK(line.model == "fused");
    for (const HeadRecord& head : job.record().heads) {
      const bool gone = head.removed_at && *head.removed_at < line.step;
      CHECK((std::find(line.heads.begin(), line.heads.end(), head.id) == line.heads.end()) == gone);
    }
  }
  CHECK(measured == std::vector<Index>{5, 10, 15, 20, 25});
}

TEST_CASE("a demo that is told to stop does so at once") {
  const TemporaryFolder folder;
  DemoRuns job(small_demo(), folder.path());
  Index steps = 0;
  CHECK_FALSE(job.learn([&](const auto&) { return ++steps < 3; }));
  CHECK(steps == 3);
}

TEST_CASE("the same seed gives the same records to the bit") {
  const TemporaryFolder folder;
  Record records[2];
  for (Record& each : records) {
    DemoRuns job(small_demo(), folder.path());
    prune(job, go_on);
    each = json_of(job.record());
  }
  CHECK(records[0] == records[1]);
}

TEST_CASE("an arm without a cut is the run without removal, to the bit") {
  DemoSetup setup = small_demo();
  setup.remove = setup.remove_few = 0;
  const TemporaryFolder folder;
  DemoRuns job(setup, folder.path());
  prune(job, go_on);
  const DemoCut whole{.setup = setup,
                      .checkpoint = (folder / "before_removal.safetensors").string(),
                      .choice = "none"};
  const auto arm = demo_run(setup, demo_task(setup), Layout::fused);
  run_cut(*arm, whole);
  CHECK(parameter_distance(seq2seq_of(*arm), job.fused()).largest == 0);
}

TEST_CASE("an arm has the heads cut before its first step") {
  const TemporaryFolder folder;
  DemoRuns job(small_demo(), folder.path());
  REQUIRE(job.learn(go_on));
  const DemoCut cut{.setup = small_demo(),
                    .checkpoint = (folder / "before_removal.safetensors").string(),
                    .choice = "random",
                    .heads = {{AttentionKind::cross, 0, 1}, {AttentionKind::encoder_self, 1, 3}}};
  const auto arm = demo_run(cut.setup, demo_task(cut.setup), Layout::fused);
  const CutResult result = run_cut(*arm, cut);
  CHECK(live_heads(arm->model()).size() == 22);
  CHECK(result.cut >= 0);
  CHECK(result.recovered <= 1);
  // The order goes to a child as JSON and comes back the same.
  const auto again = struct_of<DemoCut>(json_of(cut), "arm");
  CHECK(again.heads == cut.heads);
  CHECK(json_of(again.setup) == json_of(cut.setup));
  const auto twin = demo_run(again.setup, demo_task(again.setup), Layout::fused);
  CHECK(run_cut(*twin, again).recovered == result.recovered);
  CHECK(parameter_distance(seq2seq_of(*twin), seq2seq_of(*arm)).largest == 0);
}

TEST_CASE("arms stop when one is stopped, and an error in one is the error of all") {
  const std::vector<DemoCut> cuts(5, DemoCut{.choice = "random"});
  const auto nothing = [](Index) {};
  Index runs = 0;
  CHECK_FALSE(run_cuts(
      cuts, [&](const DemoCut&) { return ++runs < 3 ? std::optional(CutResult{}) : std::nullopt; },
      1, nothing));
  CHECK(runs == 3);
  const CutRunner fails = [](const DemoCut&) -> std::optional<CutResult> {
    throw NumericError("loss is nan");
  };
  CHECK_THROWS_AS(run_cuts(cuts, fails, 2, nothing), NumericError);
  // Results keep the order of the cuts, however many run at once.
  std::vector<DemoCut> named;
  for (const char* name : {"a", "b", "c", "d"}) named.push_back({.choice = name});
  const auto all = run_cuts(
      named,
      [](const DemoCut& cut) {
        return std::optional(CutResult{double(cut.choice[0]), 0});
      },
      3, nothing);
  REQUIRE(all.has_value());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(all->arms[i].choice == named[i].choice);
    CHECK(all->arms[i].cut[0] == double(named[i].choice[0]));
  }
}
