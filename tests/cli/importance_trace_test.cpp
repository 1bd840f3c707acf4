// `headroom importance --trace`: metrics at several points of training, of several runs.
#include <cmath>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("a trace measures every run at every snapshot, as importance does at one of them") {
  const TemporaryFolder folder;
  for (const char* seed : {"1", "2"}) {
    const Finished run = headroom_program(
        small_run(std::string("run-") + seed, {"--seed", seed, "--snapshots", "10,20"}), folder);
    INFO(run.err);
    REQUIRE(run.code == 0);
  }
  const std::vector<std::string> trace{"importance", "--trace", "run-1",    "--trace",    "run-2",
                                       "--examples", "20",      "--metric", "sensitivity"};
  std::vector<std::string> in_json = trace;
  in_json.emplace_back("--json");
  const Finished done = headroom_program(in_json, folder);
  INFO(done.err);
  REQUIRE(done.code == 0);
  const json record = json::parse(done.out);
  REQUIRE(record["points"].size() == 4);
  const json& point = record["points"][1];
  CHECK(point["run"] == "run-1");
  CHECK(point["step"] == 20);
  CHECK(point["metrics"].size() == 2);  // the true costs are always there

  const Finished alone =
      headroom_program({"importance", "--model", "run-1/snapshots/step-000020.safetensors",
                        "--examples", "20", "--metric", "sensitivity", "--json"},
                       folder);
  REQUIRE(alone.code == 0);
  const json scores = json::parse(alone.out)["metrics"][0]["scores"];
  CHECK(point["metrics"]["sensitivity"]["importance"] == scores);
  double sum = 0;
  for (const json& score : scores) sum += score.get<double>();
  CHECK(std::abs(point["sum_of_sensitivities"].get<double>() - sum) < 1e-9);
  // Costs on other examples: the same model, not the same numbers.
  const json& costs = point["metrics"]["leave_one_out"];
  CHECK(costs["importance"] != costs["again"]);
  CHECK(costs["with_cost"] == costs["reliability"]);
  CHECK(point["cost_reliability"] == costs["reliability"]);
  REQUIRE(record["agreement"].size() == 2);  // one pair of metrics at two steps
  CHECK(record["agreement"][0]["tau"].size() == 2);

  const Finished text = headroom_program(trace, folder);
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Contains("2 runs, 2 points of training, 24 heads\n"));
  CHECK_THAT(text.out, Contains("Reliability at step 20"));
  CHECK_THAT(text.err, Contains("measuring run-2, step 10\n"));
}

TEST_CASE("a run without snapshots, and options that have no meaning in a trace, are refused") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run"), folder).code == 0);
  const Finished none = headroom_program({"importance", "--trace", "run"}, folder);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, Contains("run: the run has no snapshots; train it with --snapshots"));
  const Finished both =
      headroom_program({"importance", "--trace", "run", "--model", "run"}, folder);
  CHECK(both.code == 2);
  CHECK_THAT(both.err, Contains("it cannot be combined with --model and --set"));
}
