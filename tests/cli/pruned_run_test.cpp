// Training runs that remove heads, as a user starts, stops and resumes them. Neither a stop nor the
// choice of heads may change the results; the numbers of one run are fixed.
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/runs.hpp"
#include "headroom/base/real.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Starts a run in the folder "parts" and sends it a signal as soon as a line of its metrics
/// matches `pattern` (a regular expression of grep).
Finished stop_when_measured(const std::string& pattern, const std::vector<std::string>& arguments,
                            const std::string& signal, const TemporaryFolder& folder) {
  std::string command = HEADROOM_PROGRAM;
  for (const std::string& argument : arguments) command += " " + argument;
  command += " & run=$!; until grep -qs '" + pattern +
             "' parts/metrics.jsonl || ! kill -0 $run; do sleep 0.02; done; kill -" + signal +
             " $run; wait $run";
  return run_process({"sh", "-c", command}, {}, folder.path());
}

/// The number after the first "step " of a text; 0 if there is none.
int step_in(const std::string& text) {
  const std::size_t found = text.find("step ");
  return found == std::string::npos ? 0 : std::stoi(text.substr(found + 5));
}

/// Importance of the removed heads of a summary by the step at which each was removed.
std::map<int, double> importance_by_removal(const json& summary) {
  std::map<int, double> removed;
  for (const json& head : summary["heads"]) {
    if (head["removed_at"].is_null()) continue;
    const auto [place, is_new] = removed.emplace(head["removed_at"], head["importance"]);
    INFO("two heads were removed at step " << place->first);
    CHECK(is_new);
  }
  return removed;
}

}  // namespace

TEST_CASE("a run stopped between two removals and after the last one continues to the bit") {
  const TemporaryFolder folder;
  const std::vector<std::string> more{"--prune",      "6",   "--dropout",    "0.1",
                                      "--prune-from", "50",  "--prune-over", "200",
                                      "--save-every", "100", "--telemetry",  "7"};
  auto whole = small_run("whole", more), parts = small_run("parts", more);
  for (auto* run : {&whole, &parts}) {
    (*run)[4] = "400";  // steps
    (*run)[12] = "50";  // from one evaluation to the next
  }
  REQUIRE(headroom_program(whole, folder).code == 0);
  const json summary = json::parse(content(folder / "whole/summary.json"));
  const std::map<int, double> removals = importance_by_removal(summary);
  REQUIRE(removals.size() == 6);
  const int first = removals.begin()->first, last = removals.rbegin()->first;
  CHECK(last == 250);
  CHECK(summary["heads_alive"] == 18);
  CHECK(summary["heads"].size() == 24);
  CHECK(summary["heads"][0]["cost"].is_number());
  // The untrained model gets no answer right, so the first evaluation after the last removal, at
  // the same step, stays the best. A run that loses it at a stop finds another one.
  CHECK(summary["best_step"] == 250);

  const Finished between = stop_when_measured("\"heads_alive\":23", parts, "INT", folder);
  CHECK(between.code == 130);
  CHECK_THAT(between.out, Contains(" train --out parts --resume"));
  const int stopped_between = step_in(between.out);
  REQUIRE(stopped_between >= first);
  REQUIRE(stopped_between < last);

  const Finished after =
      stop_when_measured("\"step\":2[678]0,",
                         {"train", "--out", "parts", "--resume", "--threads", "2"}, "TERM", folder);
  CHECK(after.code == 143);
  CHECK(step_in(after.err) == stopped_between + 1);  // not from an earlier checkpoint
  const int stopped_after = step_in(after.out);
  REQUIRE(stopped_after >= 260);
  REQUIRE(stopped_after < 400);

  const Finished resumed = headroom_program({"train", "--out", "parts", "--resume"}, folder);
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(step_in(resumed.err) == stopped_after + 1);
  for (const char* file : {"checkpoint.safetensors", "best.safetensors", "summary.json"}) {
    INFO(file);
    const bool same = content(folder / "parts" / file) == content(folder / "whole" / file);
    CHECK(same);
  }
  CHECK(json::parse(content(folder / "parts/summary.json")) == summary);
  CHECK(measurements(folder / "parts/metrics.jsonl") ==
        measurements(folder / "whole/metrics.jsonl"));
  CHECK(steps_with_heads(folder / "parts/metrics.jsonl").size() == 57);
  const json page = json::parse(content(folder / "parts/records.json"));
  CHECK(page["heads"] == json::parse(content(folder / "whole/records.json"))["heads"]);
  CHECK(page["heads"][0]["cost"] == summary["heads"][0]["cost"]);
  CHECK(page["lives"].size() >= 8);
  CHECK(page["lives"] == json::parse(content(folder / "whole/records.json"))["lives"]);
}

TEST_CASE("choosing heads leaves the training as it is until the first of them is removed") {
  const TemporaryFolder folder;
  const auto run = [&](const char* out, const char* steps, std::vector<std::string> more) {
    for (const char* word : {"--dropout", "0.1", "--schedule", "constant", "--warmup", "5",
                             "--telemetry", "1", "--layers", "1"}) {
      more.emplace_back(word);
    }
    std::vector<std::string> arguments = small_run(out, more);
    arguments[4] = steps;
    arguments[12] = "20";  // from one evaluation to the next
    REQUIRE(headroom_program(arguments, folder).code == 0);
    return json::parse(content(folder / out / "summary.json"));
  };
  const json plain = run("plain", "40", {});
  const json pruned =
      run("pruned", "40",
          {"--prune", "4", "--at-least", "2", "--prune-from", "10", "--prune-over", "20"});
  const std::map<int, double> removals = importance_by_removal(pruned);
  REQUIRE(removals.size() == 4);
  const int first = removals.begin()->first;
  CHECK(first == 12);  // 4 (1 - (1 - 2/20)^3) = 1.1
  const auto lines_until = [&](const char* out) {
    std::vector<json> lines = measurements(folder / out / "metrics.jsonl");
    std::erase_if(lines, [&](const json& line) {
      return line["step"] > first || line.value("record", "") == "lives";
    });
    return lines;
  };
  CHECK(lines_until("plain").size() == 13);  // 12 of heads, 1 of the model
  CHECK(lines_until("pruned") == lines_until("plain"));
  CHECK(steps_with_heads(folder / "pruned/metrics.jsonl").size() == 40);

  // The least important heads are removed, those of the smallest importance first, as long as each
  // attention keeps 2.
  double before = 0;
  for (const auto& [step, importance] : removals) {
    INFO("step " << step);
    CHECK(importance >= before);
    before = importance;
  }
  std::map<std::string, int> alive;
  for (const json& head : pruned["heads"]) {
    if (head["removed_at"].is_null()) ++alive[head["kind"].get<std::string>()];
  }
  for (const json& head : pruned["heads"]) {
    const int left = alive[head["kind"].get<std::string>()];
    CHECK(left >= 2);
    if (head["removed_at"].is_null() && left > 2) CHECK(head["importance"].get<double>() >= before);
  }

  // No answer is right, so the first evaluation stays the best; its model is evaluated on the test
  // set.
  CHECK(plain["best_step"] == 20);
  CHECK(run("short", "20", {})["test"] == plain["test"]);
}

TEST_CASE("a run with gates and DropHead, stopped and resumed, ends as one that was not") {
  const TemporaryFolder folder;
  const std::vector<std::string> more{"--keep",       "9",  "--gates",      "hard_concrete",
                                      "--prune-from", "50", "--prune-over", "100",
                                      "--at-least",   "1",  "--drop-head",  "0.2",
                                      "--telemetry",  "50"};
  auto whole = small_run("whole", more), parts = small_run("parts", more);
  for (auto* run : {&whole, &parts}) {
    (*run)[4] = "200";  // steps
    (*run)[12] = "50";  // from one evaluation to the next
  }
  REQUIRE(headroom_program(whole, folder).code == 0);
  const json config = json::parse(content(folder / "whole/config.json"))["pruning"];
  CHECK(config["gates"]["method"] == "hard_concrete");
  CHECK(config["gates"]["keep"] == 9);
  CHECK(config["drop_head"] == 0.2);
  const json summary = json::parse(content(folder / "whole/summary.json"));
  CHECK(summary["heads_alive"] == 9);
  CHECK(summary["best_step"].get<int>() >= 150);
  CHECK(summary["heads"].size() == 24);
  int removed = 0;
  for (const json& head : summary["heads"]) {
    if (head["removed_at"].is_null()) continue;
    CHECK(head["removed_at"] == 150);
    ++removed;
  }
  CHECK(removed == 15);
  const json page = json::parse(content(folder / "whole/records.json"));
  CHECK(page["importance_name"] ==
        "the ln alpha of hard_concrete gates, less that of the lowest head");

  const Finished stopped = stop_when_measured("\"open_heads\"", parts, "INT", folder);
  CHECK(stopped.code == 130);
  CHECK(step_in(stopped.out) >= 60);
  CHECK(step_in(stopped.out) < 150);
  REQUIRE(
      headroom_program({"train", "--out", "parts", "--resume", "--threads", "1"}, folder).code ==
      0);
  CHECK(json::parse(content(folder / "parts/summary.json")) == summary);
  CHECK(measurements(folder / "parts/metrics.jsonl") ==
        measurements(folder / "whole/metrics.jsonl"));
}

TEST_CASE("a run that swaps heads, killed and resumed, ends as one that was not") {
  const TemporaryFolder folder;
  const std::vector<std::string> more{
      "--prune",      "12",   "--prune-schedule", "gradual", "--metric",     "path",
      "--prune-from", "0.3",  "--prune-to",       "0.7",     "--regrow",     "0.3",
      "--compensate", "mean", "--telemetry",      "25",      "--save-every", "25"};
  auto whole = small_run("whole", more), parts = small_run("parts", more);
  for (auto* run : {&whole, &parts}) {
    (*run)[4] = "200";  // steps
    (*run)[12] = "50";  // from one evaluation to the next
  }
  REQUIRE(headroom_program(whole, folder).code == 0);
  const json config = json::parse(content(folder / "whole/config.json"))["pruning"];
  CHECK(config["compensation"] == "mean");
  CHECK(config["rescoring"] == "each_event");
  CHECK(config["pace"]["gradual"]["to"] == 140);
  CHECK(config["regrowth"] ==
        json({{"every", 10}, {"share", 0.3}, {"until", 150}, {"with", "stash"}}));
  const json summary = json::parse(content(folder / "whole/summary.json"));
  CHECK(summary["heads_alive"] == 12);
  CHECK(summary["best_step"].get<int>() >= 150);
  std::size_t regrown = 0;
  const json records = json::parse(content(folder / "whole/records.json"));
  for (const json& event : records["timeline"]) {
    if (!event.contains("regrown")) continue;
    CHECK(event["regrown"].size() == event["removed"].size());
    regrown += event["regrown"].size();
  }
  CHECK(regrown >= 5);

  for (const char* step : {"70", "100", "120"}) {
    const std::vector<std::string> again{"train", "--out", "parts", "--resume", "--threads", "1"};
    const bool begun = std::filesystem::exists(folder / "parts");
    CHECK(stop_when_measured(std::string("\"step\":") + step, begun ? again : parts, "KILL", folder)
              .code == 137);
  }
  REQUIRE(
      headroom_program({"train", "--out", "parts", "--resume", "--threads", "1"}, folder).code ==
      0);
  for (const char* file : {"checkpoint.safetensors", "summary.json"}) {
    INFO(file);
    const bool same = content(folder / "parts" / file) == content(folder / "whole" / file);
    CHECK(same);
  }
  CHECK(measurements(folder / "parts/metrics.jsonl") ==
        measurements(folder / "whole/metrics.jsonl"));
}

TEST_CASE("a run with every setting given has the losses that it always had") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments{
      "train", "--task",           "reverse",  "--seed",       "3",    "--steps",
      "40",    "--layout",         "separate", "--width",      "16",   "--heads",
      "4",     "--hidden",         "24",       "--layers",     "1",    "--batch",
      "8",     "--dropout",        "0.1",      "--rate",       "0.02", "--label-smoothing",
      "0.1",   "--schedule",       "linear",   "--warmup",     "5",    "--clip",
      "0.3",   "--weight-decay",   "0.2",      "--beta2",      "0.9",  "--prune",
      "3",     "--at-least",       "2",        "--prune-from", "10",   "--prune-over",
      "20",    "--evaluate-every", "20",       "--telemetry",  "0",    "--out",
      "run"};
  REQUIRE(headroom_program(arguments, folder).code == 0);
  // Values of the first version, in double.
  const std::vector<std::pair<double, double>> loss_and_norm = {
      {3.3546330189158984, 0.5141662214983763},
      {3.3217759916466263, 0.4169593212249794},
      {3.268549560151521, 0.3119549248256926},
      {3.30183204568714, 0.34531238482603405}};
  const double close = headroom::is_double ? 1e-9 : 1e-5;
  std::vector<json> lines = measurements(folder / "run/metrics.jsonl");
  std::erase_if(lines, [](const json& line) { return line.contains("record"); });
  REQUIRE(lines.size() == loss_and_norm.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i]);
    CHECK(std::abs(lines[i]["loss"].get<double>() - loss_and_norm[i].first) < close);
    CHECK(std::abs(lines[i]["gradient_norm"].get<double>() - loss_and_norm[i].second) < close);
  }
  CHECK(std::abs(lines[1]["rate"].get<double>() - 0.012) < 1e-12);
  const json summary = json::parse(content(folder / "run/summary.json"));
  std::vector<int> steps;
  for (const auto& [step, importance] : importance_by_removal(summary)) steps.push_back(step);
  CHECK(steps == std::vector<int>{13, 17, 30});
}
