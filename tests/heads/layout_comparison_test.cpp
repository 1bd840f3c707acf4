// The main job on a small scale: every part does what the story says.
#include "headroom/heads/layout_comparison.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

LayoutComparisonOptions small_job() {
  LayoutComparisonOptions options;
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

const LayoutComparison::OnStep go_on = [](const LayoutComparison::Progress&) { return true; };

}  // namespace

TEST_CASE("the main job starts with one function in two layouts and ends with half of the heads") {
  LayoutComparison job(small_job());
  const Record same = job.same_function();
  for (const char* part : {"forward", "parameter_gradient", "input_gradient"}) {
    INFO(part);
    CHECK(same[part].get<double>() <= same["tolerance"].get<double>());
  }
  CHECK(same["input_gradient"].get<double>() > 0);  // compared, and rounded differently

  Index steps = 0;
  CHECK(job.learn([&](const auto& progress) {
    CHECK(progress.heads_alive == 24);
    return ++steps == progress.step;
  }));
  CHECK(steps == 12);
  job.look();
  CHECK(job.records()["examples"].size() == 3);
  CHECK(job.records()["examples"][0]["maps"].size() == 24);
  CHECK(job.year_reader()["share"].get<double>() > 0);

  Index alive = 24;
  CHECK(job.remove_heads([&](const auto& progress) {
    CHECK(progress.heads_alive <= alive);
    alive = progress.heads_alive;
    return true;
  }));
  CHECK(alive == 12);
  CHECK(live_heads(job.separate()) == live_heads(job.fused()));
  job.measure_cost();

  const Record summary = job.summary();
  CHECK(summary["task"] == "dates");
  CHECK(summary["seed"] == 1);
  CHECK(summary["heads_total"] == 24);
  CHECK(summary["heads_alive"] == 12);
  CHECK(summary["step_ms_after"].get<double>() > 0);
  CHECK(summary["separate_vs_fused"] == same);

  // The removed heads are the twelve with the smallest sums of sensitivities.
  double largest_gone = 0, smallest_kept = 1e300;
  for (const Record& head : job.records()["heads"]) {
    const double sum =
        head["importance"]["separate"].get<double>() + head["importance"]["fused"].get<double>();
    if (head["removed_at"].is_null()) {
      smallest_kept = std::min(smallest_kept, sum);
    } else {
      CHECK(head["removed_at"].get<Index>() > 12);
      largest_gone = std::max(largest_gone, sum);
    }
  }
  CHECK(largest_gone <= smallest_kept);
  for (const Record& head : job.records()["heads"]) CHECK(head["cost"].is_number_float());

  // Telemetry counts the steps of all parts; a head is in it as long as it lives.
  std::vector<Index> measured;
  for (const Record& line : job.records()["telemetry"]) {
    const Index at = line["step"].get<Index>();
    measured.push_back(at);
    CHECK(line["model"] == "fused");
    for (const Record& head : job.records()["heads"]) {
      const HeadId id{AttentionKind::encoder_self, head["layer"], head["head"]};
      const std::string name = head["kind"].get<std::string>() + id.text().substr(7);
      const Record& names = line["heads"];
      const bool gone = !head["removed_at"].is_null() && head["removed_at"].get<Index>() < at;
      CHECK((std::find(names.begin(), names.end(), name) == names.end()) == gone);
    }
  }
  CHECK(measured == std::vector<Index>{5, 10, 17, 22});
}

TEST_CASE("a main job that is told to stop does so at once") {
  LayoutComparison job(small_job());
  Index steps = 0;
  CHECK_FALSE(job.learn([&](const auto&) { return ++steps < 3; }));
  CHECK(steps == 3);
}

TEST_CASE("the same seed tells the same story to the bit") {
  Record stories[2];
  for (Record& story : stories) {
    LayoutComparison job(small_job());
    job.learn(go_on);
    job.remove_heads(go_on);
    story = job.records();
  }
  CHECK(stories[0] == stories[1]);
}
