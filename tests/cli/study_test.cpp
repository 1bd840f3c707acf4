// Studies as a user runs them: every run once, whatever is killed, in one or many copies.
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <map>
#include <random>

#include "cli/runs.hpp"
#include "headroom/io/child_program.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A study of a few seconds: 2 seeds, 2 numbers of heads, 2 arms and all controls.
json small_study() {
  return json::parse(R"({
    "name": "tiny",
    "base": {"task": "reverse", "steps": 20, "width": 16, "heads": 2, "layers": 1, "batch": 8,
             "warmup": 2, "evaluate_every": 10, "validation": 40, "rate": 0.01},
    "seeds": [1, 2],
    "trunk": {"until": 10},
    "removal": {"prune": [2, 3], "prune_from": 11, "prune_over": 2},
    "arms": {"least sensitive": {}, "keep one": {"at_least": 1}},
    "controls": ["none", "random", "same_allocation", "costliest_first",
                 "same_mask_reinitialised", "small_from_start"],
    "random_draws": 2,
    "importance": {"metrics": "cheap", "examples": 8},
    "measures": ["validation_loss", "exact_match", "cut.validation_loss"]
  })");
}
constexpr std::size_t cells_of_small_study = 38;

/// The files that are the outcome of a study, by path in its folder; results.json without the part
/// that depends on where and when the study ran.
std::map<std::string, std::string> outcome(const fs::path& study) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(study)) {
    const std::string name = entry.path().filename().string();
    if (name != "summary.json" && name != "checkpoint.safetensors" && name != "results.json") {
      continue;
    }
    std::string& text = files[fs::relative(entry.path(), study).string()];
    text = content(entry.path());
    if (name != "results.json") continue;
    json results = json::parse(text);
    CHECK(results.erase("provenance") == 1);
    text = results.dump();
  }
  return files;
}

std::size_t finished_cells(const fs::path& study) {
  std::size_t count = 0;
  if (!fs::exists(study / "cells")) return 0;
  for (const auto& cell : fs::directory_iterator(study / "cells")) {
    if (fs::exists(cell.path() / "summary.json")) ++count;
  }
  return count;
}

/// When each finished cell was finished.
std::map<std::string, fs::file_time_type> finish_times(const fs::path& study) {
  std::map<std::string, fs::file_time_type> times;
  if (!fs::exists(study / "cells")) return times;
  for (const auto& cell : fs::directory_iterator(study / "cells")) {
    const fs::path summary = cell.path() / "summary.json";
    if (fs::exists(summary)) times[summary.string()] = fs::last_write_time(summary);
  }
  return times;
}

Finished run_study(const TemporaryFolder& folder, const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments{"study", "study.json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return headroom_program(arguments, folder);
}

/// Waits at most 30 s for a condition.
template <class Condition>
bool happens(Condition condition) {
  for (int tries = 0; tries < 3000 && !condition(); ++tries) usleep(10'000);
  return condition();
}

}  // namespace

TEST_CASE("a study trains every run once, and says before how many and how long") {
  const TemporaryFolder folder;
  folder.file("study.json", small_study().dump());
  const Finished dry = run_study(folder, {"--dry-run"});
  INFO(dry.err);
  REQUIRE(dry.code == 0);
  CHECK_THAT(dry.out, Contains("2 seeds, 2 conditions, 8 arms and controls") &&
                          Contains("trunks      2") && Contains("cells      38") &&
                          Contains("minutes"));
  CHECK_FALSE(fs::exists(folder / "runs"));

  const Finished run = run_study(folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const fs::path study = folder / "runs/study-tiny";
  CHECK(finished_cells(study) == cells_of_small_study);
  CHECK_THAT(run.err, Contains("left"));
  const auto times = finish_times(study);
  std::size_t records = 0;  // of 2 trunks, the scores of both, and all cells
  for (const auto& entry : fs::directory_iterator(study / "work")) {
    const json work = json::parse(content(entry.path()));
    CHECK(work["seconds"] > 0);
    CHECK(work["resumed"] == false);
    CHECK_THAT(work["command"].get<std::string>(), Contains(" train ") || Contains(" importance "));
    CHECK_THAT(work["study"].get<std::string>(), Contains(" study study.json"));
    ++records;
  }
  CHECK(records == cells_of_small_study + 4);

  const Finished again = run_study(folder);
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Contains("--resume"));

  // Results can be written again at any time, and read by others.
  const std::string results = content(study / "results.json");
  const json read = json::parse(results);
  CHECK(read["cells"].size() == cells_of_small_study);
  CHECK(read["means"].size() > 0);
  const json& provenance = read["provenance"];
  CHECK(provenance["runs"].size() == cells_of_small_study + 4);
  CHECK(provenance["machines"].size() == 1);
  CHECK(provenance["commands"].size() == 1);
  CHECK(provenance["unrecorded"] == 0);
  CHECK(provenance["warning"] == "");
  fs::remove(study / "results.json");
  CHECK(run_study(folder, {"--page"}).code == 0);
  CHECK(content(study / "results.json") == results);
  // As if another model of processor had trained a run of an arm, and not those of random heads.
  for (const json& role : read["roles"]) {
    if (role["arm"] != "keep one") continue;
    const fs::path record = study / "work" / ("cell-" + role["cell"].get<std::string>() + ".json");
    const std::string before = content(record);
    json work = json::parse(before);
    work["processor"] = "another model";
    std::ofstream(record) << work.dump();
    const Finished confounded = run_study(folder, {"--page"});
    CHECK_THAT(confounded.out, Contains("Arms are confounded with processors"));
    CHECK_THAT(content(study / "report.html"), Contains("Arms are confounded with processors"));
    std::ofstream(record) << before;
    break;
  }
  const Finished timed = run_study(folder, {"--page", "--latency", "--tables"});
  INFO(timed.err);
  CHECK(timed.code == 0);
  CHECK_THAT(timed.err, Contains("timing models of "));
  CHECK_THAT(timed.out, Contains("forward pass (ms)"));
  json with_times = json::parse(content(study / "results.json"));
  const json& passes = with_times["provenance"]["latency"]["milliseconds"];
  CHECK(passes.size() == with_times["cells"].size());
  for (const json& milliseconds : passes) CHECK(milliseconds > 0);
  CHECK_THAT(content(study / "report.html"), Contains("\"latency\":"));
  CHECK(run_study(folder, {"--list", "--latency"}).code == 2);
  const Finished nowhere = run_study(folder, {"--page", "--out", "nowhere"});
  CHECK(nowhere.code == 2);
  CHECK_THAT(nowhere.err, Contains("the folder has no study"));
  const Finished headless =
      run_process({"sh", "-c", "\"$0\" \"$1\" \"$2\" | true", "python3",
                   HEADROOM_SOURCE "/examples/read_study.py", (study / "results.json").string()});
  CHECK(headless.err == "");
  const Finished printed = run_process({"python3", HEADROOM_SOURCE "/examples/read_study.py",
                                        (study / "results.json").string(), "exact_match"},
                                       {}, folder.path());
  INFO(printed.err);
  CHECK(printed.code == 0);
  CHECK_THAT(printed.out, Contains("exact_match, mean over seeds") && Contains("random") &&
                              Contains("[") && Contains("comparisons are tested together"));
  const Finished checked = run_process({"python3", HEADROOM_SOURCE "/examples/read_study.py",
                                        "--check", (study / "results.json").string()});
  INFO(checked.err);
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out,
             Contains("computed again, equal to 1e-6: ") && Contains(" differences with p, "));
  for (const char* key : {"means", "contrasts"}) {  // a number that is not that of its seeds
    json wrong = read;
    wrong[key][0]["seeds"][0]["value"] = 0.123;
    if (std::string(key) == "contrasts") wrong[key][0]["difference"] = 0.123;
    folder.file("wrong.json", wrong.dump());
    const Finished found = run_process({"python3", HEADROOM_SOURCE "/examples/read_study.py",
                                        "--check", (folder / "wrong.json").string()});
    CHECK(found.code != 0);
    CHECK_THAT(found.err, Contains("stored"));
  }
  json alone = read;  // one seed, and a model that has not learned the task
  for (const char* key : {"means", "contrasts"}) {
    for (json& entry : alone[key]) entry["seeds"] = json::array({entry["seeds"][0]});
  }
  REQUIRE(alone["task_checks"].size() > 0);
  alone["task_checks"][0]["check"] = {
      {"measure", "loss"}, {"model", 9.5}, {"constant", 9.25}, {"learned", false}};
  folder.file("alone.json", alone.dump());
  const Finished warned = run_process({"python3", HEADROOM_SOURCE "/examples/read_study.py",
                                       (folder / "alone.json").string(), "exact_match"},
                                      {}, folder.path());
  CHECK(warned.code == 0);
  CHECK_THAT(warned.out, Contains("have not learned the task") &&
                             Contains("loss 9.5, best constant answer 9.25") &&
                             Contains("(no interval: one seed)") &&
                             !Contains("the same in all seeds"));
  CHECK(warned.out.find("not learned") < warned.out.find("mean over seeds"));

  fs::rename(study / "work", study / "seconds");  // as a folder of an earlier version
  const Finished resumed = run_study(folder, {"--resume"});
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.err, Contains("42 of 42 runs and measurements were done before"));
  CHECK(finish_times(study) == times);

  json other = small_study();
  other["removal"]["prune"] = {2};
  folder.file("study.json", other.dump());
  const Finished changed = run_study(folder, {"--resume"});
  CHECK(changed.code == 2);
  CHECK_THAT(changed.err, Contains("another declaration (/removal/prune"));
}

TEST_CASE("pieces of a study give its results one by one, and only in the order of their needs") {
  const TemporaryFolder folder;
  json declaration = small_study();
  declaration["seeds"] = {1};
  declaration["removal"]["prune"] = {3};
  folder.file("study.json", declaration.dump());
  REQUIRE(run_study(folder, {"--out", "whole"}).code == 0);
  const auto listed = [&] {
    const Finished list = run_study(folder, {"--out", "single", "--list", "--json"});
    REQUIRE(list.code == 0);
    return json::parse(list.out)["pieces"];
  };
  const json pieces = listed();
  for (const json& piece : pieces) {  // from short runs
    if (piece["key"].get<std::string>().starts_with("scores-")) continue;
    CHECK(piece["minutes"] > 0);
  }
  const Finished unknown = run_study(folder, {"--out", "single", "--run", "cell-1"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("no piece \"cell-1\"") && Contains("--list"));
  const std::string trunk = pieces[0]["key"], scores = pieces[1]["key"];
  const Finished early = run_study(folder, {"--out", "single", "--run", scores});
  CHECK(early.code == 2);
  CHECK_THAT(early.err, Contains(scores + " needs " + trunk));
  CHECK_FALSE(fs::exists(folder / "single"));
  CHECK(run_study(folder, {"--out", "single", "--status"}).code == 2);
  CHECK(run_study(folder, {"--out", "single", "--list", "--status"}).code == 2);
  CHECK(run_study(folder, {"--out", "single", "--json"}).code == 2);

  const Finished both = run_study(folder, {"--out", "single", "--run", scores, trunk});
  INFO(both.err);
  REQUIRE(both.code == 0);
  CHECK(finished_cells(folder / "single") == 0);
  const std::string checkpoint =
      folder / "single/trunks" / trunk.substr(6) / "checkpoint.safetensors";
  const std::string saved = content(checkpoint), cell = pieces[2]["key"];
  folder.file(fs::relative(checkpoint, folder.path()).string(), "no checkpoint");
  CHECK(run_study(folder, {"--out", "single", "--run", cell}).code != 0);
  CHECK(listed()[2]["state"] == "failed");
  CHECK_THAT(run_study(folder, {"--out", "single", "--status"}).out,
             Contains("1 failed") && Contains(cell));
  folder.file(fs::relative(checkpoint, folder.path()).string(), saved);
  for (const json& piece : pieces) {
    REQUIRE(run_study(folder, {"--out", "single", "--run", piece["key"]}).code == 0);
  }
  for (const json& piece : listed()) CHECK(piece["state"] == "done");
  REQUIRE(run_study(folder, {"--out", "single", "--page"}).code == 0);
  CHECK(outcome(folder / "single") == outcome(folder / "whole"));
}

TEST_CASE("the folds of a study test every example of a seed once") {
  const TemporaryFolder folder;
  json declaration = small_study();
  declaration["seeds"] = {1};
  declaration["folds"] = 3;
  declaration["removal"]["prune"] = {3};
  declaration["arms"] = {{"least sensitive", json::object()}};
  declaration["controls"] = {"none", "random"};
  declaration["random_draws"] = 1;
  declaration["measures"] = {"test.loss"};
  folder.file("study.json", declaration.dump());
  const Finished run = run_study(folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("seed 1, fold 3: "));
  const fs::path study = folder / "runs/study-tiny";
  std::map<std::string, int> folds;
  for (const auto& cell : fs::directory_iterator(study / "cells")) {
    const json config = json::parse(content(cell.path() / "config.json"));
    ++folds[config["task"]["fold"]];
  }
  CHECK(folds == std::map<std::string, int>{{"1/3", 3}, {"2/3", 3}, {"3/3", 3}});
  const json results = json::parse(content(study / "results.json"));
  for (const json& mean : results["means"]) {
    CHECK(mean["points"].size() == 3);
    REQUIRE(mean["seeds"].size() == 1);
    double sum = 0;
    for (const json& cell : results["cells"]) {
      for (const json& role : results["roles"]) {
        if (role["cell"] == cell["key"] && role["arm"] == mean["arm"]) {
          sum += cell["measures"]["test.loss"].get<double>();
        }
      }
    }
    CHECK(std::abs(mean["mean"]["value"].get<double>() - sum / 3) < 1e-12);
  }
}

TEST_CASE("the controls remove what they say") {
  const TemporaryFolder folder;
  json declaration = small_study();
  declaration["seeds"] = {1};
  declaration["removal"]["prune"] = {3};
  folder.file("study.json", declaration.dump());
  const Finished run = run_study(folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const fs::path study = folder / "runs/study-tiny";
  std::map<std::string, int> by_heads;
  for (const auto& cell : fs::directory_iterator(study / "cells")) {
    const json summary = json::parse(content(cell.path() / "summary.json"));
    const json config = json::parse(content(cell.path() / "config.json"))["training"];
    CHECK_FALSE(summary.contains("test"));
    CHECK(summary["steps"] == 20);
    // From the start without 3 of 6 heads, one of each attention: none of the first ones.
    if (config.contains("without") && !config.contains("init")) {
      ++by_heads["small"];
      CHECK(config["without"] == "encoder 0.1,decoder 0.1,cross 0.1");
    }
    if (config.contains("init")) ++by_heads["again"];
    ++by_heads[summary["heads_alive"].dump()];
    CHECK(summary["alive"].size() == summary["heads_alive"]);
    // Runs that remove heads are measured right after that, and say when they removed which.
    const bool removes = summary["heads_alive"] == 3 && !config.contains("without");
    CHECK(summary.contains("after_cut") == removes);
    if (!removes) continue;
    CHECK(summary["after_cut"]["step"] == 13);
    CHECK(summary["after_cut"]["heads_alive"] == 3);
    CHECK(summary["after_cut"]["validation"]["validation_loss"] > 0);
    CHECK_FALSE(summary["after_cut"].contains("test"));
    CHECK(summary["timeline"].back()["step"] == 13);
  }
  CHECK(by_heads == std::map<std::string, int>{{"3", 9}, {"6", 1}, {"small", 1}, {"again", 1}});
}

namespace {

/// Kills a study so many times, each time 20 to 200 ms after it began, and then lets it end.
void check_kills(const json& declaration, int times) {
  const TemporaryFolder folder;
  folder.file("study.json", declaration.dump());
  REQUIRE(run_study(folder, {"--out", "whole"}).code == 0);
  std::mt19937 random(7);
  int kills = 0;
  std::map<std::string, fs::file_time_type> finished;
  const std::string program = HEADROOM_PROGRAM;
  for (; kills < times; ++kills) {
    headroom::ChildProgram study(
        {program, "study", folder / "study.json", "--out", folder / "killed", "--resume"});
    usleep(static_cast<unsigned>(std::uniform_int_distribution<int>(20'000, 200'000)(random)));
    if (study.poll()) break;  // it was done before
    study.send(SIGKILL);
    study.wait();
    for (const auto& [file, time] : finished) CHECK(fs::last_write_time(file) == time);
    finished = finish_times(folder / "killed");
  }
  CHECK(kills == times);
  REQUIRE(run_study(folder, {"--out", "killed", "--resume"}).code == 0);
  for (const auto& [file, time] : finished) CHECK(fs::last_write_time(file) == time);
  CHECK(outcome(folder / "killed") == outcome(folder / "whole"));
}

}  // namespace

TEST_CASE("a study that is killed three times loses no finished cell and changes no number") {
  json declaration = small_study();
  declaration["seeds"] = {1};
  check_kills(declaration, 3);
}

TEST_CASE("a study that is killed twenty times loses no finished cell and changes no number",
          "[long]") {
  check_kills(small_study(), 20);
}

TEST_CASE("copies started by hand share a study, and take over what a killed one has begun") {
  const TemporaryFolder folder;
  folder.file("study.json", small_study().dump());
  REQUIRE(run_study(folder, {"--out", "whole"}).code == 0);
  std::vector<headroom::ChildProgram> copies;
  for (int i = 0; i < 4; ++i) {
    copies.emplace_back(std::vector<std::string>{HEADROOM_PROGRAM, "study", folder / "study.json",
                                                 "--out", folder / "shared", "--resume"});
  }
  REQUIRE(happens([&] { return finished_cells(folder / "shared") >= 3; }));
  copies.back().send(SIGKILL);
  copies.back().wait();
  copies.pop_back();
  for (headroom::ChildProgram& copy : copies) {
    const headroom::ChildResult result = copy.wait();
    INFO(result.err);
    CHECK(result.code == 0);
  }
  CHECK(outcome(folder / "shared") == outcome(folder / "whole"));
}

TEST_CASE("a study under mpirun gives the same results, also after a copy was killed", "[.][mpi]") {
  const TemporaryFolder folder;
  folder.file("study.json", small_study().dump());
  REQUIRE(run_study(folder, {"--out", "whole"}).code == 0);
  // Every copy writes its process number, so that one can be killed.
  folder.file("copy.sh", "echo $$ > pid-$OMPI_COMM_WORLD_RANK; exec \"$@\"\n");
  const std::vector<std::string> words{
      "mpirun",  "--allow-run-as-root", "--oversubscribe", "-n",         "4",     "sh",
      "copy.sh", HEADROOM_PROGRAM,      "study",           "study.json", "--out", "shared"};
  std::string line = "cd " + folder.path().string() + " && exec";
  for (const std::string& word : words) line += " " + word;
  headroom::ChildProgram first({"sh", "-c", line});
  REQUIRE(happens([&] { return finished_cells(folder / "shared") >= 3; }));
  REQUIRE(kill(std::stoi(content(folder / "pid-2")), SIGKILL) == 0);
  CHECK(first.wait().code != 0);  // mpirun ends the job
  CHECK(finished_cells(folder / "shared") < cells_of_small_study);
  const Finished again = run_process(words, {}, folder.path());
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(outcome(folder / "shared") == outcome(folder / "whole"));
}
