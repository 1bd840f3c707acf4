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

TEST_CASE("metrics that draw do so with the seed of each run, and anew on other examples") {
  const TemporaryFolder folder;
  for (const char* seed : {"1", "2"}) {
    REQUIRE(
        headroom_program(
            small_run(std::string("run-") + seed, {"--seed", seed, "--snapshots", "20"}), folder)
            .code == 0);
  }
  const auto measured = [&](std::vector<std::string> arguments) {
    for (const char* more : {"--examples", "20", "--metric", "random", "--json"}) {
      arguments.emplace_back(more);
    }
    arguments.insert(arguments.begin(), "importance");
    const Finished done = headroom_program(arguments, folder);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return json::parse(done.out);
  };
  const auto alone = [&](std::vector<std::string> arguments) {
    return measured(std::move(arguments))["metrics"][0]["scores"];
  };
  const std::vector<std::string> runs{"--trace", "run-1", "--trace", "run-2"};
  const json own = measured(runs)["points"];
  const auto scores = [](const json& points, std::size_t run, const char* of) {
    return points[run]["metrics"]["random"][of];
  };
  CHECK(scores(own, 0, "importance") == alone({"--model", "run-1"}));
  CHECK(scores(own, 1, "importance") == alone({"--model", "run-2"}));
  CHECK(scores(own, 0, "importance") != scores(own, 1, "importance"));
  CHECK(scores(own, 0, "again") != scores(own, 0, "importance"));
  std::vector<std::string> with_seed = runs;
  with_seed.insert(with_seed.end(), {"--seed", "7"});
  const json given = measured(with_seed)["points"];
  CHECK(scores(given, 0, "importance") == scores(given, 1, "importance"));
  CHECK(scores(given, 0, "importance") == alone({"--model", "run-2", "--seed", "7"}));
}

TEST_CASE("the exact answer of a trace is that of the model alone, on examples of its own number") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run", {"--snapshots", "20"}), folder).code == 0);
  const auto measured = [&](std::vector<std::string> arguments) {
    for (const char* more : {"--examples", "6", "--metric", "causal_gating,entropy,leave_one_out",
                             "--oracle", "--oracle-examples", "3", "--json"}) {
      arguments.emplace_back(more);
    }
    arguments.insert(arguments.begin(), "importance");
    const Finished done = headroom_program(arguments, folder);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return json::parse(done.out);
  };
  const json alone = measured({"--model", "run/snapshots/step-000020.safetensors"}),
             trace = measured({"--trace", "run"}), &point = trace["points"][0];
  for (const json* record : {&alone, &point}) {
    CHECK((*record)["oracle"]["chosen_examples"] == 6);
    CHECK((*record)["oracle"]["examples"] == 3);
  }
  CHECK(trace["metrics"].size() == 3);
  const json &scored = point["metrics"]["causal_gating"], &gated = alone["metrics"][0];
  CHECK(scored["importance"] == gated["scores"]);
  CHECK(scored["classes"] == gated["classes"]);
  CHECK(scored["classes"].size() == 24);
  CHECK(scored["details"]["gates_up"] == gated["details"]["gates_up"]);
  CHECK(!point["metrics"]["entropy"].contains("classes"));
  CHECK(trace["metrics"][1]["keep_low"] == true);
  CHECK(trace["metrics"][1]["cost"] == "F");
  REQUIRE(point["games"].size() == alone["games"].size());
  for (std::size_t g = 0; g < alone["games"].size(); ++g) {
    const json &game = alone["games"][g], &traced = point["games"][g];
    const std::vector<double> values = game["values"];
    const std::size_t heads = game["heads"].size(), all = values.size() - 1;
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t bit = std::size_t{1} << h;
      CHECK(game["leave_one_out"][h] == values[all ^ bit] - values[all]);
      CHECK(game["alone"][h] == values[0] - values[bit]);
    }
    for (const auto& [key, value] : traced.items()) {
      INFO(key);
      CHECK(value == game[key]);
    }
    for (const char* key : {"shapley", "leave_one_out", "alone"})
      CHECK(traced[key].size() == heads);
    for (const char* choice : {"entropy", "leave_one_out", "greedy"}) {
      CHECK(traced["regret"][choice].size() == heads + 1);
    }
  }
  const Finished refused = headroom_program({"importance", "--oracle-examples", "3"}, folder);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("add --oracle"));
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
