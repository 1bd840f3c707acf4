// Run folders and their metrics: nothing is overwritten unasked, nothing is lost.
#include "headroom_runs/runs/run_folder.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/training_settings.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const char* const our_page = "<p class=\"brand\">headroom</p>";
const std::string our_config = TrainingSettings().to_record().dump();

StepReport logged_step(Index step) {
  StepReport report;
  report.step = step;
  report.loss = 1.0 / double(step);
  return report;
}

}  // namespace

TEST_CASE("a folder that is not empty is refused with the remedy, and left as it was") {
  const TemporaryFolder folder;
  folder.file("notes.txt", "mine");
  CHECK_THROWS_AS(RunFolder(folder.path()), UsageError);
  try {
    RunFolder(folder.path());
    FAIL("the folder was not refused");
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains("continue its run, or replace it"));
    CHECK(error.settings() == std::vector<std::string>{"resume", "force"});
  }
  CHECK_THROWS_WITH(RunFolder(folder / "notes.txt"), Contains("is a file"));
  CHECK(read_file(folder / "notes.txt") == "mine");
}

TEST_CASE("a page takes the place of an old page, never of a trained model") {
  for (const char* model : {"checkpoint.safetensors", "best.safetensors"}) {
    const TemporaryFolder trained;
    trained.file(model, "weights");
    for (const bool force : {false, true}) {
      CHECK_THROWS_WITH(RunFolder::for_page(trained.path(), force),
                        Contains("holds a trained model") && Contains(model));
    }
    CHECK(trained.content(model) == "weights");
  }
  const TemporaryFolder page;
  page.file("report.html", our_page);
  page.file("notes", "mine");
  CHECK_THROWS_WITH(RunFolder::for_page(page.path(), false),
                    Contains("choose another, or replace its page"));
  RunFolder::for_page(page.path(), true);
  CHECK(page.content("report.html").empty());
  CHECK(page.content("notes") == "mine");
}

TEST_CASE("force removes the old run's files and no others") {
  const TemporaryFolder folder;
  folder.file("notes.txt", "mine");
  folder.file("snapshots/notes.txt", "mine");
  for (const char* name :
       {"metrics.jsonl", "checkpoint.safetensors", "best.safetensors", "summary.json",
        "snapshots/step-000007.safetensors", "snapshots/step-1000000.safetensors"}) {
    folder.file(name, "old");
  }
  folder.file("report.html", our_page);
  folder.file("records.json", R"({"title": "Dates", "environment": {}})");
  folder.file("config.json", our_config);
  const RunFolder run(folder.path(), IfExists::replace);  // another name of force
  CHECK_FALSE(run.resumes());
  CHECK(run.snapshots().empty());
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) left.push_back(entry.path().lexically_relative(folder.path()));
  }
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"notes.txt", "snapshots/notes.txt"});
}

TEST_CASE("force removes nothing when one of the files is another program's") {
  const auto refused = [](const TemporaryFolder& folder, const std::string& name) {
    const auto force = [&] { RunFolder(folder.path(), IfExists::force); };
    CHECK_THROWS_AS(force(), UsageError);
    CHECK_THROWS_WITH(force(), Contains("its " + name + " is not that of a run, and only files"));
  };
  for (const std::string name : {"config.json", "report.html", "records.json"}) {
    const TemporaryFolder folder;
    folder.file("config.json", our_config);
    folder.file("report.html", our_page);
    folder.file("records.json", R"({"title": "Dates", "environment": {}})");
    folder.file("metrics.jsonl", "old");
    for (const char* foreign :
         {R"({"name": "precious"})", R"({"title": "Table", "layout": "wide", "kind": 3})", "[]",
          "<p>the room has headroom</p>", ""}) {
      folder.file(name, foreign);
      refused(folder, name);
      CHECK(folder.content(name) == foreign);
      CHECK(folder.content("metrics.jsonl") == "old");
    }
  }
  for (const char* name : {"metrics.jsonl", "checkpoint.safetensors", "best.safetensors",
                           "summary.json", "snapshots/step-000007.safetensors"}) {
    const TemporaryFolder alone;
    alone.file(name, "mine");
    alone.file("report.html", our_page);
    refused(alone, fs::path(name).filename());
    CHECK(alone.content(name) == "mine");
  }
}

TEST_CASE("force knows the files of experiments, and of a run by its checkpoint") {
  const TemporaryFolder folder;
  folder.file("records.json", R"({"kind": "lab", "title": "", "options": {"width": 8}})");
  folder.file("config.json", R"({"width": 8})");
  RunFolder(folder.path(), IfExists::force);
  CHECK(fs::is_empty(folder.path()));
  TensorFile checkpoint;
  checkpoint.metadata["format"] = "headroom checkpoint 1";
  checkpoint.write(folder / "best.safetensors");
  folder.file("metrics.jsonl", MetricsLog::line(logged_step(1)).dump() + "\n{\"st");
  folder.file("summary.json", R"({"task": "dates", "seed": 1, "parameters": 9, "heads_alive": 6,
                                  "best_step": 4, "task_check": {}})");
  RunFolder(folder.path(), IfExists::force);
  CHECK(fs::is_empty(folder.path()));
  Record demo = ModelConfig().to_record();
  for (const char* key : {"learn_steps", "prune_steps", "recover_steps", "validation_examples"}) {
    demo[key] = 1;
  }
  folder.file("config.json", demo.dump());
  folder.file("metrics.jsonl", "");
  RunFolder(folder.path(), IfExists::force);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("force removes nothing that only looks like a run's") {
  struct Mine {
    const char *name, *content;
  };
  TensorFile ours;
  ours.metadata["format"] = "headroom checkpoint 1";
  for (const auto& [config, others] : std::vector<std::pair<std::string, std::vector<Mine>>>{
           {R"({"task": "glue", "model": "bert-base", "training": {"lr": 1e-5}})",
            {{"checkpoint.safetensors", "a text"},
             {"metrics.jsonl", "{\"loss\": 1}\n"},
             {"summary.json", "{\"f1\": 0.9}"}}},
           {R"({"layout": "wide", "width": 10, "heads": [1], "hidden": true})",
            {{"best.safetensors", "a text"}}},
           {"", {{"metrics.jsonl", "{\"step\": 1, \"loss\": 2.5}\n"}}},
           {"", {{"summary.json", "{\"task\": \"glue\", \"seed\": 1}"}}}}) {
    const TemporaryFolder folder;
    if (config.empty()) {
      ours.write(folder / "best.safetensors");
    } else {
      folder.file("config.json", config);
    }
    for (const Mine& file : others) folder.file(file.name, file.content);
    INFO(config << others[0].name);
    CHECK_THROWS_WITH(RunFolder(folder.path(), IfExists::force),
                      Contains(config.empty() ? others[0].name : "config.json"));
    CHECK(folder.content("config.json") == config);
    CHECK(fs::exists(folder / "best.safetensors") ==
          (config.empty() || others[0].name == std::string("best.safetensors")));
    for (const Mine& file : others) CHECK(folder.content(file.name) == file.content);
  }
}

TEST_CASE("force removes nothing beside another program's tensors or a folder") {
  for (const char* name : {"checkpoint.safetensors", "metrics.jsonl", "summary.json"}) {
    INFO(name);
    const TemporaryFolder folder;
    folder.file("config.json", our_config);
    if (name == std::string("checkpoint.safetensors")) {
      TensorFile foreign;
      foreign.metadata["format"] = "pt";
      foreign.write(folder / name);
    } else {
      fs::create_directory(folder / name);
    }
    CHECK_THROWS_WITH(RunFolder(folder.path(), IfExists::force),
                      Contains("its " + std::string(name) + " is not that of a run"));
    CHECK(folder.content("config.json") == our_config);
    CHECK(fs::exists(folder / name));
  }
}

TEST_CASE("resume needs a run; one killed before its first checkpoint starts again") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(RunFolder(folder / "nowhere", IfExists::resume),
                    Contains("there is no run to resume"));
  CHECK_FALSE(fs::exists(folder / "nowhere"));
  RunFolder(folder / "run").write_config({{"seed", 1}});
  const RunFolder started(folder / "run", IfExists::resume);
  CHECK_FALSE(started.resumes());
  CHECK(started.read_config() == Record{{"seed", 1}});
  folder.file("run/checkpoint.safetensors", "");
  CHECK(RunFolder(folder / "run", IfExists::resume).resumes());
}

TEST_CASE("a run that was killed while it wrote its first file has not begun") {
  const TemporaryFolder folder;
  folder.file("killed/.config.json.12-1.tmp", "{");
  const RunFolder again(folder / "killed", IfExists::resume_or_start);
  CHECK_FALSE(again.resumes());
  again.write_config({{"seed", 1}});
  const fs::directory_iterator left(folder / "killed");
  CHECK(std::distance(begin(left), end(left)) == 1);
  folder.file("other/.notes.tmp", "precious");
  CHECK_THROWS_WITH(RunFolder(folder / "other", IfExists::resume_or_start),
                    Contains("the folder is not empty"));
}

TEST_CASE("fresh folders are numbered, and the newest run is the one with the newest checkpoint") {
  const TemporaryFolder folder;
  const fs::path root = folder / "runs";
  CHECK(newest_run(root) == std::nullopt);
  CHECK(RunFolder::fresh(root, "dates").path() == root / "dates-1");
  CHECK(RunFolder::fresh(root, "dates").path() == root / "dates-2");
  CHECK(RunFolder::fresh(root, "g2p").path() == root / "g2p-1");
  CHECK(newest_run(root) == std::nullopt);  // none has a checkpoint
  folder.file("runs/dates-2/checkpoint.safetensors", "");
  folder.file("runs/dates-1/checkpoint.safetensors", "");
  fs::last_write_time(
      root / "dates-1/checkpoint.safetensors",
      fs::last_write_time(root / "dates-2/checkpoint.safetensors") + std::chrono::seconds(5));
  CHECK(newest_run(root) == root / "dates-1");
}

TEST_CASE("a model is a file, or a folder's best or else latest checkpoint") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(checkpoint_of(folder / "nowhere"), Contains("does not exist"));
  CHECK_THROWS_WITH(checkpoint_of(folder.path()), Contains("has no checkpoint"));
  const fs::path latest = folder.file("checkpoint.safetensors", "");
  CHECK(checkpoint_of(folder.path()) == latest);
  const fs::path best = folder.file("best.safetensors", "");
  CHECK(checkpoint_of(folder.path()) == best);
  CHECK(checkpoint_of(latest) == latest);
}

TEST_CASE("after a resume the metrics equal those of an uninterrupted run") {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.jsonl", cut = folder / "cut.jsonl";
  {
    MetricsLog log(whole);
    for (Index step = 1; step <= 6; ++step) log(logged_step(step));
  }
  {
    MetricsLog log(cut);
    for (Index step = 1; step <= 5; ++step) log(logged_step(step));  // its checkpoint is of step 3
  }
  folder.file("cut.jsonl", read_file(cut) + "{\"step\": 6, \"lo");  // cut off by the kill
  {
    MetricsLog log(cut, 3);
    for (Index step = 4; step <= 6; ++step) log(logged_step(step));
  }
  CHECK(read_file(cut) == read_file(whole));
}

TEST_CASE("a log that starts afresh is empty, and numbers that are none become null") {
  const TemporaryFolder folder;
  folder.file("metrics.jsonl", "{\"step\": 1}\n");
  MetricsLog log(folder / "metrics.jsonl");
  StepReport report = logged_step(1);
  report.metrics["validation_loss"] = std::nan("");
  report.metrics["exact_match"] = 0.5;
  log(report);
  const std::string text = read_file(folder / "metrics.jsonl");
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK_THAT(text, Contains("\"validation_loss\":null") && Contains("\"exact_match\":0.5"));
}

TEST_CASE("a metrics file that is broken in the middle is refused with its line") {
  const TemporaryFolder folder;
  folder.file("metrics.jsonl", "{\"step\": 1}\nnonsense\n{\"step\": 3}\n");
  CHECK_THROWS_WITH(MetricsLog(folder / "metrics.jsonl", 3), Contains("metrics.jsonl:2"));
  const MetricsLog log(folder / "metrics.jsonl", 2);  // up to this step it is whole
  CHECK(read_file(folder / "metrics.jsonl") == "{\"step\": 1}\n");
}
