// The settings of a run from options and from files.
#include <cmath>
#include <limits>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("settings from a file are those of the same options, and options come before them") {
  const TemporaryFolder folder;
  folder.file("words.json", R"({"task": "reverse", "width": 16, "steps": 40, "keep": 9,
                                "optimizer": "muon", "post_norm": true})");
  folder.file("wrong.json", R"({"task": "reverse", "stepz": 40})");
  const auto config = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "train");
    words.emplace_back("--print-config");
    const Finished finished = headroom_program(words, folder);
    CHECK(finished.code == 0);
    return finished.out;
  };
  const std::string by_options = config({"--task", "reverse", "--width", "16", "--steps", "40",
                                         "--keep", "9", "--optimizer", "muon", "--post-norm"});
  CHECK(json::parse(by_options)["pruning"]["remove"] == 15);
  CHECK(config({"--config", "words.json"}) == by_options);
  folder.file("config.json", by_options);
  CHECK(config({"--config", "config.json"}) == by_options);
  const auto fewer = json::parse(config({"--config", "words.json", "--keep", "6"}));
  CHECK(fewer["pruning"]["remove"] == 18);
  // The usual rate of another optimizer follows from the task's, not from that of the file's.
  const auto other = json::parse(config({"--config", "config.json", "--optimizer", "sgd"}));
  CHECK(std::abs(other["training"]["peak_rate"].get<double>() - 50 * 2e-3) < 1e-12);
  const Finished wrong = headroom_program({"train", "--config", "wrong.json"}, folder);
  CHECK(wrong.code == 5);
  CHECK_THAT(wrong.err, Contains("wrong.json: \"stepz\" is not a setting (did you mean steps?)"));
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST_CASE("the largest seed is a seed") {
  const TemporaryFolder folder;
  const std::string largest = std::to_string(std::numeric_limits<std::int64_t>::max());
  auto run = small_run("run", {"--seed", largest, "--no-page", "--no-test"});
  run[4] = "1";  // steps
  CHECK(headroom_program(run, folder).code == 0);
  CHECK(json::parse(content(folder / "run/config.json"))["task"]["seed"].dump() == largest);
}
