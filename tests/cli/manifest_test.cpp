// A run resumes as the run that it was: the same data, settings, log and bytes, in any folder.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/runs.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/tensor_file.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A small run that was stopped after step 15 of 30: the checkpoint is a snapshot.
void train_half(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  for (const char* more : {"--snapshots", "15", "--no-page"}) arguments.emplace_back(more);
  const Finished run = headroom_program(arguments, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  fs::copy(folder / "run", folder / "whole", fs::copy_options::recursive);
  fs::copy(folder / "run/snapshots/step-000015.safetensors", folder / "run/checkpoint.safetensors",
           fs::copy_options::overwrite_existing);
}

Finished resume(const TemporaryFolder& folder, std::vector<std::string> more = {},
                const std::string& out = "run") {
  std::vector<std::string> arguments{"train", "--out", out, "--resume", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return headroom_program(arguments, folder);
}

void require_refused(const Finished& finished, const std::string& words) {
  INFO(finished.err);
  CHECK(finished.code == 5);
  CHECK_THAT(finished.err, StartsWith("error: ") && Contains(words));
  CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
}

std::vector<std::string> text_run() {
  return {"train", "--task",  "text", "--data",           "text.txt", "--steps",   "30", "--width",
          "16",    "--heads", "2",    "--layers",         "1",        "--batch",   "4",  "--length",
          "8",     "--out",   "run",  "--evaluate-every", "15",       "--threads", "1"};
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a run does not resume with other data, and does with data that moved") {
  const TemporaryFolder folder;
  const std::string text = repeated("the cat sat on the mat. ", 40);
  folder.file("text.txt", text);
  train_half(folder, text_run());
  const std::string half = content(folder / "run/checkpoint.safetensors");

  std::string other = text;  // as many characters, one of them another
  std::replace(other.begin(), other.end(), 'c', 'b');
  folder.file("text.txt", other);
  require_refused(resume(folder), "has another vocabulary (\"tokens\") than the data");
  require_refused(resume(folder, {"--accept-changes"}), "has another vocabulary");
  folder.file("text.txt", repeated("the mat sat on the cat. ", 40));
  require_refused(resume(folder), "text.txt: is not the data that the run was trained with");
  CHECK(content(folder / "run/checkpoint.safetensors") == half);

  fs::remove(folder / "text.txt");
  require_refused(resume(folder),
                  "the run's data file does not exist; if it was moved, add --data");
  folder.file("moved.txt", text);
  const Finished moved = resume(folder, {"--data", "moved.txt"});
  INFO(moved.err);
  CHECK(moved.code == 0);
  CHECK_THAT(json::parse(content(folder / "run/config.json"))["task"]["data"].get<std::string>(),
             Contains("moved.txt"));
  CHECK(content(folder / "run/checkpoint.safetensors") ==
        content(folder / "whole/checkpoint.safetensors"));
}

TEST_CASE("a dictionary with other phonemes has another vocabulary") {
  const TemporaryFolder folder;
  const auto dictionary = [](const char* vowel) {
    std::string text;
    for (char first = 'a'; first <= 'z'; ++first) {
      for (char last = 'a'; last <= 'f'; ++last) {
        text += fmt::format("{}x{} K {} T\n", first, last, last % 2 == 0 ? vowel : "IY1");
      }
    }
    return text;
  };
  folder.file("words.dict", dictionary("AE1"));
  train_half(folder, {"train", "--task",    "g2p", "--data",  "words.dict", "--steps",
                      "30",    "--width",   "16",  "--heads", "2",          "--layers",
                      "1",     "--batch",   "4",   "--out",   "run",        "--evaluate-every",
                      "15",    "--threads", "1"});
  folder.file("words.dict", dictionary("OW1"));
  require_refused(resume(folder), "has another vocabulary (\"target\") than the data");
}

TEST_CASE("changed data are taken when the change is meant") {
  const TemporaryFolder folder;
  folder.file("text.txt", repeated("the cat sat on the mat. ", 40));
  train_half(folder, text_run());
  folder.file("text.txt", repeated("the mat sat on the cat. ", 40));
  CHECK(resume(folder, {"--accept-changes"}).code == 0);
  CHECK(resume(folder).code == 0);  // now these are its data
  CHECK(headroom_program({"train", "--accept-changes", "--out", "x"}, folder).code == 2);
}

TEST_CASE("a run does not resume with other settings, another log or other bytes") {
  const TemporaryFolder folder;
  train_half(folder, small_run("run", {"--dropout", "0.1"}));
  const std::string half = content(folder / "run/checkpoint.safetensors");
  const std::string settings = content(folder / "run/config.json");
  const json config = json::parse(settings);
  const std::string log = content(folder / "run/metrics.jsonl");

  SECTION("settings, and training that explodes with them leaves the checkpoint alone") {
    json changed = config;
    changed["training"]["peak_rate"] = 1e307;
    changed["training"]["weight_decay"] = 1e3;
    changed["training"]["save_every"] = 1;
    folder.file("run/config.json", changed.dump());
    require_refused(resume(folder), "run/config.json: \"peak_rate\" is 1e+307, but the run was");
    const Finished exploded = resume(folder, {"--accept-changes"});
    CHECK(exploded.code == 3);
    CHECK_THAT(exploded.err, Contains("error: run/checkpoint.safetensors: not saved, because ") &&
                                 Contains(" values of model."));
    CHECK(content(folder / "run/checkpoint.safetensors") == half);
    folder.file("run/config.json", settings);
    changed = config;
    changed["pruning"]["remove"] = 3;  // a part of the settings that only the program knows
    folder.file("run/config.json", changed.dump());
    require_refused(resume(folder), "\"remove\" is 3, but the run was trained with 0");
    changed = config;
    changed["training"]["beta2"] = 1.5;
    folder.file("run/config.json", changed.dump());
    require_refused(resume(folder), "run/config.json: \"beta2\" 1.5 is not in [0, 1)");
    changed = config;
    changed["pruning"]["pace"]["gradual"]["every"] = 0;
    folder.file("run/config.json", changed.dump());
    require_refused(resume(folder), "run/config.json: pruning schedule: ");
  }
  SECTION("a hole in the log") {
    folder.file("run/metrics.jsonl", log.substr(log.find('\n') + 1));
    require_refused(resume(folder), "run/metrics.jsonl: its first ");
    std::string edited = log;
    edited[edited.find("loss") + 8] ^= 1;
    folder.file("run/metrics.jsonl", edited);
    require_refused(resume(folder),
                    "restore the file, or accept the change if it is meant (see --accept-changes)");
    fs::remove(folder / "run/metrics.jsonl");
    require_refused(resume(folder), "run/metrics.jsonl: its first ");
    folder.file("run/metrics.jsonl", log + "{\"step\":16,\"lo\n{\"step\":17");  // torn later lines
  }
  SECTION("a flipped bit") {
    std::string flipped = half;
    flipped[flipped.size() - 100] ^= 4;
    folder.file("run/checkpoint.safetensors", flipped);
    require_refused(resume(folder), "has changed since it was saved (checksum); restore");
    folder.file("run/checkpoint.safetensors", half);
  }
  SECTION("another machine is a warning") {
    using headroom::TensorFile;
    TensorFile file = TensorFile::read(folder / "run/checkpoint.safetensors");
    json manifest = json::parse(file.metadata["manifest"]);
    manifest["machine"] = "an abacus";
    manifest["library"] = "0.0.1";
    file.metadata["manifest"] = manifest.dump();
    file.metadata.erase("checksums");
    file.write(folder / "run/checkpoint.safetensors");
    const Finished elsewhere = resume(folder);
    CHECK(elsewhere.code == 0);
    CHECK_THAT(elsewhere.err,
               Contains("warning: the run was trained with another kind of processor or BLAS: the "
                        "last bits of its results may differ (an abacus before, ") &&
                   Contains("warning: the run was trained with another version of headroom"));
    fs::copy(folder / "whole/checkpoint.safetensors", folder / "run/checkpoint.safetensors",
             fs::copy_options::overwrite_existing);
  }
  folder.file("run/config.json", settings);
  fs::rename(folder / "run", folder / "elsewhere");
  const Finished resumed = resume(folder, {}, "elsewhere");
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  for (const char* file : {"checkpoint.safetensors", "best.safetensors", "summary.json"}) {
    INFO(file);
    const bool same = content(folder / "elsewhere" / file) == content(folder / "whole" / file);
    CHECK(same);
  }
}

TEST_CASE("the demo does not train in the folder of a run that trains") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "run");
  const auto lock = headroom::FileLock::if_free(folder / "run/.lock");
  const Finished second = headroom_program({"demo", "--out", "run", "--force"}, folder);
  CHECK(second.code == 2);
  CHECK_THAT(second.err, Contains("process " + std::to_string(getpid()) + " is training"));
}
