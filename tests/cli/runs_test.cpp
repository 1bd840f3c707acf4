// `headroom runs`: the list, the comparison and the removal of runs; which run is taken by default.
#include "cli/runs.hpp"
#include "support/browser.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

void train_reverse(const TemporaryFolder& folder, const std::string& out,
                   std::vector<std::string> more = {}) {
  std::vector<std::string> words{"train", "--task",           "reverse", "--steps",  "4", "--width",
                                 "16",    "--heads",          "2",       "--layers", "1", "--batch",
                                 "8",     "--evaluate-every", "2",       "--out",    out};
  words.insert(words.end(), more.begin(), more.end());
  const Finished run = headroom_program(words, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

}  // namespace

TEST_CASE("runs lists every run with its state, heads and measure, and says what is broken") {
  const TemporaryFolder folder;
  CHECK_THAT(headroom_program({"runs"}, folder).out, Contains("there are no runs in runs"));
  train_reverse(folder, "runs/a", {"--keep", "4"});
  train_reverse(folder, "runs/b", {"--until", "2"});
  fs::create_directories(folder / "runs/c");
  folder.file("runs/c/config.json", "{");
  fs::create_directories(folder / "runs/no-run");
  const Finished listed = headroom_program({"runs", "--json"}, folder);
  REQUIRE(listed.code == 0);
  std::map<std::string, json> runs;
  for (const json& run : json::parse(listed.out)) runs[run["folder"]] = run;
  CHECK(runs.size() == 3);
  CHECK(runs["runs/a"]["state"] == "finished");
  CHECK(runs["runs/a"]["steps"] == 4);
  CHECK(runs["runs/a"]["heads"] == 4);
  CHECK(runs["runs/a"]["all_heads"] == 6);
  const json summary = json::parse(content(folder / "runs/a/summary.json"));
  CHECK(runs["runs/a"]["measure"] == "exact match");
  CHECK(runs["runs/a"]["value"] == summary["test"]["exact_match"]);
  CHECK(runs["runs/a"]["bytes"].get<double>() > 10000);
  CHECK(runs["runs/b"]["steps"] == 2);
  CHECK(runs["runs/b"]["all_steps"] == 4);
  CHECK_THAT(runs["runs/c"]["problem"].get<std::string>(), Contains("config.json"));
  const Finished text = headroom_program({"runs"}, folder);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("runs/a") && Contains("4/6") && Contains("2/4"));
}

TEST_CASE("runs compare shows the settings that differ, the curves and the heads") {
  const TemporaryFolder folder;
  train_reverse(folder, "a", {"--keep", "4"});
  train_reverse(folder, "b", {"--lr", "0.01"});
  const Finished run = headroom_program({"runs", "compare", "a", "b", "--out", "page"}, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, Contains("training.peak_rate") && Contains("0.01") &&
                          Contains("test exact_match") && Contains("a: 4 of 6") &&
                          Contains("b: 6 of 6"));
  CHECK_THAT(run.out, !Contains("model.width"));  // it is the same
  if (can_open_pages()) {
    for (const OpenedPage& page : check_page(folder / "page/report.html", folder / "browser")) {
      CHECK(page.complaints == "");
    }
  }
  const json record =
      json::parse(headroom_program({"runs", "compare", "a", "b", "--json"}, folder).out);
  CHECK(record["curves"][0]["series"].size() == 2);
  CHECK(record["curves"][0]["series"][0]["points"].size() == 2);
  CHECK(headroom_program({"runs", "compare", "a"}, folder).code == 2);
  CHECK(headroom_program({"runs", "compare", "a", "nowhere"}, folder).code == 5);
}

TEST_CASE("runs remove asks, takes only the files of a run, and leaves one that is training") {
  const TemporaryFolder folder;
  train_reverse(folder, "a", {"--snapshots", "2"});
  train_reverse(folder, "b");
  const Finished asked = headroom_program({"runs", "remove", "a"}, folder);
  CHECK(asked.code == 2);
  CHECK_THAT(asked.err, Contains("--yes"));
  CHECK(fs::exists(folder / "a/checkpoint.safetensors"));
  CHECK(headroom_program({"runs", "remove", "a", "--yes"}, folder).code == 0);
  CHECK_FALSE(fs::exists(folder / "a"));

  folder.file("b/notes.txt", "mine");
  const Finished kept = headroom_program({"runs", "remove", "b", "--yes"}, folder);
  CHECK(kept.code == 0);
  CHECK_THAT(kept.out, Contains("the folder has other files and stays"));
  CHECK(fs::exists(folder / "b/notes.txt"));
  CHECK_FALSE(fs::exists(folder / "b/config.json"));
  CHECK(headroom_program({"runs", "remove", "b", "--yes"}, folder).code == 2);  // no run any more
  CHECK(headroom_program({"runs", "remove", "nowhere", "--yes"}, folder).code == 5);
}

TEST_CASE("a command without --model says which run it takes") {
  const TemporaryFolder folder;
  train_reverse(folder, "runs/a");
  const Finished run = headroom_program({"inspect"}, folder);
  CHECK(run.code == 0);
  CHECK_THAT(run.err, Contains("the newest run, runs/a\n"));
  CHECK(headroom_program({"inspect", "--model", "runs/a"}, folder).err.empty());
}
