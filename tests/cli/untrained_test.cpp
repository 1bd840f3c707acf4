// An untrained model through the commands that compare heads: each says that first, and draws no
// conclusion.
#include <algorithm>
#include <sstream>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

const std::string warning = "The model has not learned the task: its exact match of ";

/// A model of 12 heads that has made two tiny steps, or one that has learned.
std::vector<std::string> training(const std::string& out, bool learns) {
  std::vector<std::string> arguments{"train",
                                     "--task",
                                     "sort",
                                     "--steps",
                                     learns ? "200" : "2",
                                     "--width",
                                     "16",
                                     "--heads",
                                     "4",
                                     "--layers",
                                     "1",
                                     "--batch",
                                     "16",
                                     "--rate",
                                     learns ? "0.01" : "1e-9",
                                     "--validation",
                                     "80",
                                     "--threads",
                                     "1",
                                     "--no-page",
                                     "--out",
                                     out};
  return arguments;
}

/// The words of a text without its line ends.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void check_oracle_text(const std::string& text) {
  CHECK_THAT(text, Contains("choose on 8 examples of the set") && Contains("v(none) - v(all) =") &&
                       Contains("* greedy") && Contains("median standard error"));
  std::istringstream lines(text.substr(text.find("Metrics and choosers choose")));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
}

}  // namespace

TEST_CASE("importance, prune and report say first that a model has not learned its task") {
  const TemporaryFolder folder;
  for (const bool learns : {false, true}) {
    INFO((learns ? "a trained model" : "an untrained model"));
    const std::string name = learns ? "trained" : "untrained";
    const Finished trained = headroom_program(training(name, learns), folder);
    REQUIRE(trained.code == 0);
    CHECK((one_line(trained.out).find(warning) != std::string::npos) == !learns);
    const auto run = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin() + 1, {"--model", name});
      const Finished done = headroom_program(arguments, folder);
      INFO(done.err);
      CHECK(done.code == 0);
      return done.out;
    };
    const auto expect = [&](const std::string& text, const std::string& conclusion) {
      CHECK(one_line(text).starts_with(warning) == !learns);
      CHECK((one_line(text).find(conclusion) != std::string::npos) == learns);
    };
    expect(run({"importance", "--metric", "sensitivity"}),
           "Heads in order of importance, least important first");
    expect(run({"importance", "--metric", "cheap", "--examples", "10"}),
           "attention_l1 is the same for all heads");
    const std::string game =
        run({"importance", "--metric", "sensitivity,fisher", "--oracle", "--examples", "8"});
    expect(game, "The best subset of each size");
    if (learns) check_oracle_text(game);
    const json scores = json::parse(run({"importance", "--metric", "sensitivity", "--json"}));
    CHECK(scores["task_check"]["learned"] == learns);
    CHECK(scores["task_check"]["measure"] == "exact match");
    CHECK(scores["metrics"][0]["scores"].size() == 12);

    expect(run({"prune", "--max-loss-increase", "5", "--out", name + "-cut"}), "the limit of 5");
    CHECK_THAT(run({"prune", "--keep", "9", "--out", name + "-9"}),
               Contains("3 of 12 heads are removed"));
    const json cut = json::parse(content(folder / (name + "-9/summary.json")));
    CHECK(cut["task_check_before"]["learned"] == learns);
    CHECK(cut["task_check"]["learned"] == learns);

    CHECK(json::parse(content(folder / (name + "/summary.json")))["task_check"] ==
          scores["task_check"]);
    CHECK(one_line(run({"report"})).starts_with(warning) == !learns);
    const std::string page = content(folder / (name + "/report.html"));
    CHECK((page.find(warning) != std::string::npos) == !learns);
  }
}

TEST_CASE("prune says that a model without most of its heads has not learned its task") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(training("trained", true), folder).code == 0);
  const Finished done =
      headroom_program({"prune", "--model", "trained", "--keep", "3", "--out", "cut"}, folder);
  REQUIRE(done.code == 0);
  CHECK_THAT(one_line(done.out),
             Contains("The model without these heads has not learned the task: its exact match"));
  const json summary = json::parse(content(folder / "cut/summary.json"));
  CHECK(summary["task_check_before"]["learned"] == true);
  CHECK(summary["task_check"]["learned"] == false);
  CHECK(one_line(headroom_program({"report", "--model", "cut"}, folder).out).starts_with(warning));
}

TEST_CASE("a study of untrained models decides nothing, and says why") {
  const TemporaryFolder folder;
  json declaration = json::parse(R"({
    "name": "noise",
    "base": {"task": "reverse", "steps": 6, "width": 16, "heads": 2, "layers": 1, "batch": 8,
             "evaluate_every": 3, "validation": 40, "rate": 1e-9},
    "seeds": [1, 2, 3],
    "trunk": {"until": 3},
    "removal": {"prune": 2, "prune_from": 4, "prune_over": 1},
    "arms": {"least sensitive": {}},
    "controls": ["none", "random"],
    "random_draws": 1,
    "importance": {"metrics": "sensitivity,magnitude", "examples": 8},
    "measures": ["exact_match", "validation_loss"]
  })");
  folder.file("study.json", declaration.dump());
  const Finished run = headroom_program({"study", "study.json"}, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(
      one_line(run.out),
      StartsWith("No decision. The models have not learned the task: with all heads, 3 of 3 "
                 "are not clearly better than the best constant answer (seed 1: exact match "));
  const json results = json::parse(content(folder / "runs/study-noise/results.json"));
  REQUIRE(results["task_checks"].size() == 3);
  for (const json& check : results["task_checks"]) CHECK(check["check"]["learned"] == false);
  // No answer is right, with or without heads: nothing is significant.
  for (const json& contrast : results["contrasts"]) {
    if (contrast["measure"] != "exact_match") continue;
    CHECK(contrast["p"].is_null());
    CHECK(contrast["interval"].is_null());
    CHECK(contrast["holm"].is_null());
  }
  CHECK_THAT(content(folder / "runs/study-noise/report.html"),
             Contains("No finding: the models have not learned the task"));

  // A log that was edited is refused, by --page and by --resume.
  const auto cell = std::filesystem::directory_iterator(folder / "runs/study-noise/cells")->path();
  const std::string log = content(cell / "metrics.jsonl");
  std::string edited = log;
  const std::size_t place = edited.rfind("\"exact_match\":0.0");
  REQUIRE(place != std::string::npos);
  edited.replace(place, 17, "\"exact_match\":0.5");
  std::ofstream(cell / "metrics.jsonl") << edited;
  for (const char* option : {"--page", "--resume"}) {
    const Finished refused = headroom_program({"study", "study.json", option}, folder);
    CHECK(refused.code == 5);
    CHECK_THAT(refused.err, Contains("metrics.jsonl: was changed after the run had ended"));
  }
  std::ofstream(cell / "metrics.jsonl") << log;
  CHECK(headroom_program({"study", "study.json", "--page"}, folder).code == 0);
}
