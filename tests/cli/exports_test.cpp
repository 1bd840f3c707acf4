// `headroom export` and `convert`; the model that commands take where there are no runs.
#include <set>

#include "cli/runs.hpp"
#include "headroom_runs/runs/setting.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

void train_sort(const TemporaryFolder& folder) {
  const Finished run = headroom_program(
      {"train", "--task", "sort", "--steps", "20", "--width", "16", "--heads", "2", "--layers", "1",
       "--batch", "8", "--evaluate-every", "10", "--telemetry", "10", "--out", "run"},
      folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

std::ptrdiff_t count_lines(const fs::path& file) {
  const std::string text = content(file);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("export writes a model for other programs") {
  const TemporaryFolder folder;
  train_sort(folder);
  const Finished onnx =
      headroom_program({"export", "--model", "run", "--to", "onnx", "--out", "onnx"}, folder);
  CHECK(onnx.code == 0);
  CHECK_THAT(onnx.out, Contains("6 of 6 heads") && Contains("onnx/encoder.onnx"));
  CHECK(fs::exists(folder / "onnx/decoder.onnx"));
  const Finished torch =
      headroom_program({"export", "--model", "run", "--to", "torch", "--json"}, folder);
  CHECK(torch.code == 0);
  const json result = json::parse(torch.out);
  CHECK(result["folder"] == "runs/export-1");
  REQUIRE(result["files"].size() == 3);
  for (const json& file : result["files"]) CHECK(fs::exists(folder / file.get<std::string>()));
  // With --force, files of exports are removed first: not a checkpoint of such a name.
  fs::create_directory(folder / "copy");
  fs::copy_file(folder / "run/best.safetensors", folder / "copy/model.safetensors");
  const Finished same = headroom_program({"export", "--model", "copy/model.safetensors", "--to",
                                          "torch", "--out", "./copy/", "--force"},
                                         folder);
  CHECK(same.code == 2);
  CHECK_THAT(same.err, Contains("the folder of the model that is read"));
  CHECK(content(folder / "copy/model.safetensors") == content(folder / "run/best.safetensors"));
  // The folder of an export is no run.
  CHECK(headroom_program({"runs", "--json"}, folder).out == "[]\n");
}

TEST_CASE("convert writes the measurements of a run") {
  const TemporaryFolder folder;
  train_sort(folder);
  const Finished csv =
      headroom_program({"convert", "--model", "run", "--to", "csv", "--out", "csv"}, folder);
  INFO(csv.err);
  REQUIRE(csv.code == 0);
  const std::string metrics = content(folder / "csv/metrics.csv");
  CHECK_THAT(metrics, Catch::Matchers::StartsWith("step,exact_match,gradient_norm,"));
  CHECK_THAT(metrics, Contains("\n10,") && Contains("\n20,"));
  CHECK(count_lines(folder / "csv/heads.csv") == 1 + 2 * 6);
  CHECK_THAT(content(folder / "csv/heads.csv"), Contains("\n10,cross,0,1,"));
  const Finished events = headroom_program(
      {"convert", "--model", "run", "--to", "tensorboard", "--out", "events", "--json"}, folder);
  REQUIRE(events.code == 0);
  const auto file = json::parse(events.out)["files"][0].get<std::string>();
  CHECK_THAT(file, Contains("events/events.out.tfevents."));
  CHECK_THAT(content(folder / file), Contains("validation_loss") && Contains("entropy/cross 0.1"));
  // TensorBoard reads all event files of a folder, so another one is not left beside the first.
  fs::rename(folder / file, folder / "events/events.out.tfevents.1.headroom");
  folder.file("events/notes.txt", "mine");
  CHECK(headroom_program(
            {"convert", "--model", "run", "--to", "tensorboard", "--out", "events", "--force"},
            folder)
            .code == 0);
  CHECK(fs::exists(folder / file));
  CHECK_FALSE(fs::exists(folder / "events/events.out.tfevents.1.headroom"));
  CHECK(fs::exists(folder / "events/notes.txt"));
}

TEST_CASE("a folder of exported files is replaced by --force only, that of a run never") {
  const TemporaryFolder folder;
  train_sort(folder);
  const auto exported = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"export", "--model", "run", "--to", "onnx"};
    words.insert(words.end(), more.begin(), more.end());
    return headroom_program(words, folder);
  };
  REQUIRE(exported({"--out", "onnx"}).code == 0);
  const Finished again = exported({"--out", "onnx"});
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Contains("not empty") && Contains("--force"));
  CHECK(exported({"--out", "onnx", "--force"}).code == 0);
  const std::string before = content(folder / "run/config.json");
  const Finished over = exported({"--out", "run", "--force"});
  CHECK(over.code == 2);
  CHECK_THAT(over.err, Contains("the folder of a run"));
  CHECK(content(folder / "run/config.json") == before);
  CHECK_FALSE(fs::exists(folder / "run/encoder.onnx"));
}

TEST_CASE("what cannot be exported or converted is one line with a remedy") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "empty");
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } bad[] = {
      {{"export", "--model", "empty"}, 2, "give --to onnx or --to torch"},
      {{"export", "--to", "keras"}, 2, "not one of onnx, torch"},
      {{"export", "--to", "onnx", "--model", "nowhere"}, 5, "--model nowhere does not exist"},
      {{"export", "--to", "onnx", "--model", "empty"}, 5, "empty: has no checkpoint"},
      {{"convert", "--to", "csv"}, 2, "no trained model under runs"},
      {{"report"}, 2, "no trained model under runs"},
      {{"train", "--resume"}, 2, "no trained model under runs"},
      {{"sample"}, 2, "no trained model under runs"},
      {{"convert", "--to", "csv", "--model", "empty"}, 5, "has no metrics.jsonl"},
      {{"convert", "--to", "xlsx"}, 2, "not one of csv, tensorboard"},
  };
  for (const auto& one : bad) {
    const Finished run = headroom_program(one.words, folder);
    CHECK(run.code == one.code);
    CHECK_THAT(run.err, Contains(one.says));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  CHECK_FALSE(fs::exists(folder / "runs"));
}

TEST_CASE("docs/files.md names every field of a run's files") {
  const TemporaryFolder folder;
  train_sort(folder);
  const std::string text = content(fs::path(HEADROOM_SOURCE) / "docs/files.md");
  std::set<std::string> fields;
  for (const headroom::Setting& setting : headroom::all_settings()) {
    const std::string key = setting.path.substr(setting.path.find('.') + 1);
    if (!setting.path.empty()) fields.insert(key);
  }
  CHECK(fields.size() > 40);
  for (const char* file : {"config.json", "summary.json", "records.json"}) {
    const json values = json::parse(content(folder / "run" / file));
    for (const auto& [key, value] : values.items()) fields.insert(key);
  }
  std::istringstream lines(content(folder / "run/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json values = json::parse(line);
    for (const auto& [key, value] : values.items()) fields.insert(key);
  }
  for (const std::string& field : fields) {
    INFO(field);
    CHECK(text.find("`" + field + "`") != std::string::npos);
  }
}

TEST_CASE("without runs, commands take the sample model and say so") {
  const TemporaryFolder folder;
  const std::string line = "March 3, 1987\n";
  folder.file("dates.txt", line);
  const struct {
    std::vector<std::string> words;
    const char* prints;
  } commands[] = {
      {{"predict", "dates.txt"}, "19"},
      {{"attend", "--input", "March 3, 1987", "--out", "page"}, "1987-03-03"},
      {{"inspect"}, "encoder heads"},
      {{"importance", "--examples", "20"}, "cross 1.3"},
      {{"export", "--to", "torch", "--out", "torch"}, "24 of 24 heads"},
      {{"prune", "--keep", "12", "--examples", "20", "--out", "pruned"}, "12 of 24"},
  };
  for (const auto& one : commands) {
    const Finished run = headroom_program(one.words, folder);
    INFO(one.words[0] << ": " << run.err);
    CHECK(run.code == 0);
    CHECK_THAT(run.err, Contains("the sample model, trained on dates"));
    CHECK_THAT(run.out, Contains(one.prints));
  }
  // A run of one's own comes first.
  REQUIRE(fs::exists(folder / "pruned/config.json"));
  fs::create_directories(folder / "runs");
  fs::rename(folder / "pruned", folder / "runs/mine");
  CHECK_THAT(headroom_program({"predict", "dates.txt"}, folder).err,
             Contains("the newest run, runs/mine"));
  const Finished report = headroom_program({"report", "--model", "elsewhere"}, folder);
  CHECK(report.code == 5);
}
