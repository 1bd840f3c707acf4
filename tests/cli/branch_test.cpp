// Runs that are parts of a study: branches of another run, given heads, early ends.
#include <algorithm>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Runs a small training that must succeed, in the folder `name`.
void train(const TemporaryFolder& folder, const std::string& name,
           const std::vector<std::string>& options) {
  const Finished run = headroom_program(small_run(name, options), folder);
  INFO(name << ": " << run.err);
  REQUIRE(run.code == 0);
}

void require_same(const TemporaryFolder& folder, const std::string& a, const std::string& b) {
  for (const char* file : {"checkpoint.safetensors", "best.safetensors"}) {
    INFO(a << " and " << b << ": " << file);
    REQUIRE(std::filesystem::exists(folder / a / file));
    CHECK(content(folder / a / file) == content(folder / b / file));
  }
  CHECK(measurements(folder / a / "metrics.jsonl") == measurements(folder / b / "metrics.jsonl"));
  CHECK(content(folder / a / "summary.json") == content(folder / b / "summary.json"));
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("a branch of a run is the run that was trained through, to the bit") {
  const TemporaryFolder folder;
  const std::vector<std::string> common{"--dropout", "0.1", "--no-page"};
  train(folder, "trunk", joined(common, {"--until", "15"}));
  const json trunk = json::parse(content(folder / "trunk/summary.json"));
  CHECK(trunk["steps"] == 15);
  CHECK_FALSE(trunk.contains("test"));
  CHECK_FALSE(std::filesystem::exists(folder / "trunk/report.html"));
  const std::vector<std::vector<std::string>> recipes{
      {},
      {"--prune", "5", "--prune-from", "16", "--prune-over", "10"},
      {"--remove", "cross 1.2,encoder 0.3,encoder 0.1", "--prune-from", "16", "--prune-over", "4"},
      {"--prune", "4", "--prune-from", "15", "--prune-over", "10", "--gates", "hard_concrete"}};
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const std::string through = "through" + std::to_string(i),
                      branch = "branch" + std::to_string(i);
    train(folder, through, joined(common, recipes[i]));
    train(folder, branch, joined(joined(common, recipes[i]), {"--branch", "trunk"}));
    require_same(folder, through, branch);
  }
  const json given = json::parse(content(folder / "branch2/summary.json"));
  CHECK(given["heads_alive"] == 21);
  for (const json& head : given["heads"]) {
    const std::string name =
        head["kind"].get<std::string>() + " " + head["layer"].dump() + "." + head["head"].dump();
    const std::vector<std::string> order{"cross 1.2", "encoder 0.3", "encoder 0.1"};
    const auto place = std::find(order.begin(), order.end(), name);
    INFO(name);
    CHECK(head["turn"] == (place == order.end() ? json() : json(place - order.begin())));
  }
}

TEST_CASE("a run that is cut off right after its branching resumes as the branch") {
  const TemporaryFolder folder;
  train(folder, "trunk", {"--until", "15", "--no-page"});
  train(folder, "branch", {"--branch", "trunk", "--no-page", "--no-test"});
  std::filesystem::create_directory(folder / "cut");  // a kill left the settings and nothing else
  std::filesystem::copy(folder / "branch/config.json", folder / "cut/config.json");
  const Finished resumed =
      headroom_program({"train", "--out", "cut", "--resume", "--threads", "1"}, folder);
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  require_same(folder, "branch", "cut");
}

TEST_CASE("a branch may name its data file as the trunk did, relative to where it starts") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 4000) text += "all heads are alike but some are more alike. ";
  folder.file("text.txt", text);
  const auto train_text = [&](std::vector<std::string> options) {
    options = joined({"train", "--task", "text", "--data", "text.txt", "--steps", "20", "--width",
                      "16", "--heads", "2", "--layers", "1", "--no-page", "--threads", "1"},
                     options);
    const Finished run = headroom_program(options, folder);
    INFO(run.err);
    return run.code;
  };
  CHECK(train_text({"--out", "trunk", "--until", "10"}) == 0);
  CHECK(train_text({"--out", "branch", "--branch", "trunk"}) == 0);
}

TEST_CASE("heads can be missing from the start, and weights be drawn again") {
  const TemporaryFolder folder;
  train(folder, "without", {"--without", "decoder 1.0,cross 0.3", "--no-page", "--no-test"});
  const json summary = json::parse(content(folder / "without/summary.json"));
  CHECK(summary["heads_alive"] == 22);
  CHECK_FALSE(summary.contains("test"));
  for (const json& line : measurements(folder / "without/metrics.jsonl")) {
    if (line.contains("heads_alive")) CHECK(line["heads_alive"] == 22);
  }
  const Finished scored = headroom_program(
      {"importance", "--model", "without", "--metric", "magnitude", "--json"}, folder);
  REQUIRE(scored.code == 0);
  CHECK(json::parse(scored.out)["heads"].size() == 22);

  // The learning rate of 30 steps, for a run of 15: as one of 30 that ends early.
  train(folder, "early", {"--until", "15", "--warmup", "2"});
  std::vector<std::string> half = small_run("short", {"--schedule-steps", "30", "--warmup", "2"});
  *std::find(half.begin(), half.end(), "30") = "15";
  REQUIRE(headroom_program(half, folder).code == 0);
  CHECK(saved_state(folder / "early/checkpoint.safetensors") ==
        saved_state(folder / "short/checkpoint.safetensors"));
  train(folder, "drawn", {"--until", "15", "--warmup", "2", "--init", "1"});
  CHECK(saved_state(folder / "early/checkpoint.safetensors") !=
        saved_state(folder / "drawn/checkpoint.safetensors"));
}

TEST_CASE("a run that cannot begin with another one says why, and leaves no folder") {
  const TemporaryFolder folder;
  train(folder, "trunk", {"--until", "15", "--no-page"});
  train(folder, "whole", {"--no-page", "--no-test"});
  train(folder, "pruned", {"--prune", "2", "--no-page", "--no-test"});
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--branch", "nowhere"}, "there is no run to resume"},
      {{"--branch", "trunk", "--rate", "0.005"},
       "\"peak_rate\" is 0.002 in that run and 0.005 in this one"},
      {{"--branch", "trunk", "--seed", "2"}, "\"seed\" is 1 in that run and 2 in this one"},
      {{"--branch", "trunk", "--drop-head", "0.5"},
       "--drop-head is 0 in that run and 0.5 in this one"},
      {{"--branch", "trunk", "--without", "cross 0.0"}, "--without must list the same heads"},
      {{"--branch", "trunk", "--fold", "1/2"},
       "\"fold\" is the default in that run and \"1/2\" in this one"},
      {{"--fold", "3/2"}, "--fold 3/2 must be K/N with 1 <= K <= N"},
      {{"--branch", "trunk", "--prune", "2", "--prune-from", "15", "--prune-over", "2"},
       "that run has done 15 steps; --prune-from 15 must be greater"},
      {{"--branch", "pruned"}, "that run removes heads"},
      {{"--branch", "whole"}, "that run has done 30 steps; --steps 30 must be greater"},
      {{"--remove", "cross 1.2,cross 1.2"}, "cross 1.2 is listed twice"},
      {{"--remove", "cross 1"}, "--remove: \"cross 1\" is not a head"},
      {{"--without", "middle 0.0"}, "--without: \"middle 0.0\" is not a head"},
      {{"--remove", "cross 7.0"}, "the model has no head cross 7.0"},
      {{"--without", "encoder 0.4"}, "the model has no head encoder 0.4"},
      {{"--remove", "cross 0.0", "--prune", "1"}, "--prune and --remove cannot be combined"},
      {{"--until", "0"}, "--until 0 is less than 1"}};
  for (const auto& [options, words] : cases) {
    INFO(words);
    const Finished refused = headroom_program(small_run("new", options), folder);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains(words));
    CHECK_FALSE(std::filesystem::exists(folder / "new"));
  }
}
