// The demo's training runs on a small scale.
#include "cli/demo_runs.hpp"

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
  return options;
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

  Index alive = 24;
  CHECK(job.remove_heads([&](const auto& progress) {
    CHECK(progress.heads_alive <= alive);
    alive = progress.heads_alive;
    return true;
  }));
  CHECK(alive == 12);
  CHECK(live_heads(job.separate()) == live_heads(job.fused()));
  job.measure_cost();
  Index whole_steps = 0;
  CHECK(job.train_whole([&](const auto& progress) {
    CHECK(progress.heads_alive == 24);
    return ++whole_steps == progress.step;
  }));
  CHECK(whole_steps == 14);

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
  CHECK(rows[1].exact_match.values().size() == 1);

  const Record summary = json_of(job.summary());
  CHECK(summary["task"] == "dates");
  CHECK(summary["seed"] == 1);
  CHECK(summary["heads_total"] == 24);
  CHECK(summary["heads_alive"] == 12);
  CHECK(summary["step_ms_after"].get<double>() > 0);
  CHECK(summary["separate_vs_fused"] == json_of(same));

  // The removed heads are the twelve with the smallest sums of sensitivities.
  double largest_gone = 0, smallest_kept = 1e300;
  for (const HeadRecord& head : job.record().heads) {
    const double sum = head.importance.of("separate").value() + head.importance.of("fused").value();
    if (!head.removed_at) {
      smallest_kept = std::min(smallest_kept, sum);
    } else {
      CHECK(*head.removed_at > 12);
      largest_gone = std::max(largest_gone, sum);
    }
  }
  CHECK(largest_gone <= smallest_kept);
  for (const HeadRecord& head : job.record().heads) CHECK(head.cost.has_value());

  // Telemetry counts the steps of all parts; a head is in it until its removal.
  std::vector<Index> measured;
  for (const TelemetryLine& line : job.record().telemetry) {
    measured.push_back(line.step);
    CHECK(line.model == "fused");
    for (const HeadRecord& head : job.record().heads) {
      const bool gone = head.removed_at && *head.removed_at < line.step;
      CHECK((std::find(line.heads.begin(), line.heads.end(), head.id()) == line.heads.end()) ==
            gone);
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
    job.learn(go_on);
    job.remove_heads(go_on);
    each = json_of(job.record());
  }
  CHECK(records[0] == records[1]);
}

TEST_CASE(
    "without removal, the model goes on as if it had never stopped, on the pruned one's data") {
  DemoSetup setup = small_demo();
  setup.remove = 0;  // then both runs are the same
  const TemporaryFolder folder;
  DemoRuns job(setup, folder.path());
  std::vector<double> losses, whole;
  REQUIRE(job.learn(go_on));
  REQUIRE(job.remove_heads([&](const auto& progress) {
    losses.push_back(progress.loss);
    return true;
  }));
  job.measure_cost();
  REQUIRE(job.train_whole([&](const auto& progress) {
    whole.push_back(progress.loss);
    return true;
  }));
  CHECK(losses == whole);
}
