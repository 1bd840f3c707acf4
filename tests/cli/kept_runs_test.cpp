// No command loses a run by mistake: not with --force, not with the file of another command.
#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const char* const sizes = " --steps 4 --width 16 --heads 2 --layers 1 --batch 8";

/// A shell line in which `headroom` is the program.
Finished shell(const std::string& line, const TemporaryFolder& folder) {
  return run_process(
      {"bash", "-c",
       std::string("headroom() { ") + HEADROOM_PROGRAM + " \"$@\"; }; set -o pipefail; " + line},
      {}, folder.path());
}

/// The contents of all files of a folder by their names.
std::map<std::string, std::string> contents(const fs::path& path) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_regular_file()) all[entry.path().filename().string()] = content(entry.path());
  }
  return all;
}

/// Trains a small run in the folder "run", on the file nouns.tsv or, with `data` "-", on the same
/// from standard input.
void train_run(const TemporaryFolder& folder, const std::string& data = "nouns.tsv") {
  std::string text;
  for (const char* word : {"cat", "dog", "bird", "cow", "hen", "pig", "goat", "duck", "lamb"}) {
    text += std::string(word) + "\t" + word + "s\n";
  }
  folder.file("nouns.tsv", text);
  const Finished trained = shell(
      "cat nouns.tsv | headroom train --task pairs --split 50:40:10 "
      "--out run --data " +
          data + sizes,
      folder);
  INFO(trained.err);
  REQUIRE(trained.code == 0);
}

}  // namespace

TEST_CASE("--force does not remove what the new run reads") {
  const TemporaryFolder folder;
  train_run(folder, "-");
  const std::string kept = json::parse(content(folder / "run/config.json"))["task"]["data"];
  fs::create_directory_symlink(folder / "run", folder / "link");
  const auto before = contents(folder / "run");
  REQUIRE(before.size() > 5);
  for (const std::string words :
       {"--config run/config.json --seed 2 --out run", "--from run --steps 5 --out run",
        "--from run/best.safetensors --steps 5 --out ./run", "--from run --steps 5 --out link"}) {
    const Finished refused = shell("headroom train --force " + words, folder);
    INFO(words << refused.err);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("which this run reads; choose another folder"));
    CHECK(contents(folder / "run") == before);
  }
  const Finished refused = shell(
      "headroom train --force --task pairs --split 50:40:10 --data " + kept + " --out link" + sizes,
      folder);
  CHECK(refused.code == 2);
  CHECK(contents(folder / "run") == before);
}

TEST_CASE("a run that begins with another one keeps a copy of its data from standard input") {
  const TemporaryFolder folder;
  train_run(folder, "-");
  fs::rename(folder / "run", folder / "moved");
  REQUIRE(shell("headroom train --from moved --steps 3 --out from", folder).code == 0);
  const Finished again = shell("headroom train --config moved/config.json --out again", folder);
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE(shell("headroom runs remove moved --yes", folder).code == 0);
  CHECK(shell("headroom evaluate --model from --json", folder).code == 0);
  CHECK(shell("headroom evaluate --model again --json", folder).code == 0);
}

TEST_CASE("a page is not written over a file of a run") {
  const TemporaryFolder folder;
  train_run(folder);
  const auto before = contents(folder / "run");
  for (const char* file : {"config.json", "best.safetensors", "metrics.jsonl"}) {
    const Finished refused =
        shell(std::string("headroom report --model run --force --out run/") + file, folder);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("is not a page; choose a path"));
  }
  CHECK(contents(folder / "run") == before);
  CHECK(shell("headroom report --model run --force --out run/report.html", folder).code == 0);
}

TEST_CASE("what a model that another run begins with has already cannot be given") {
  const TemporaryFolder folder;
  train_run(folder);
  for (const char* words :
       {"--symbols words", "--target-symbols bytes", "--least-count 2", "--init 3", "--width 32"}) {
    const Finished refused =
        shell(std::string("headroom train --from run --out other ") + words, folder);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("cannot be given with --from: the model has its "));
  }
  folder.file("wide.json", R"({"task": "pairs", "data": "nouns.tsv", "from": "run", "width": 32})");
  const Finished wide = shell("headroom train --config wide.json --out other", folder);
  CHECK(wide.code == 2);
  CHECK_THAT(wide.err, Contains("--width cannot be given with --from"));
  CHECK_FALSE(fs::exists(folder / "other"));
  folder.file("more.json", R"({"task": "pairs", "data": "nouns.tsv", "from": "run", "steps": 3})");
  const Finished more = shell("headroom train --config more.json --out other", folder);
  INFO(more.err);
  CHECK(more.code == 0);
}
