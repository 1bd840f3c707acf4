// The messages about runs that other programs made, with a task, a layout or a model of their own.
#include "cli/runs.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom_runs/runs/training_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

Layout own_layout();

class OwnHeads : public FusedHeads {
 public:
  using FusedHeads::FusedHeads;
  Layout layout() const override { return own_layout(); }
};

Layout own_layout() {
  static const Layout layout = add_layout(
      "own-heads", "fused heads by another name",
      [](const auto& config, Rng& rng) { return std::make_unique<OwnHeads>(config, rng); });
  return layout;
}

/// A run of two steps, as a program makes it with a TrainingRun.
void make_run(const std::filesystem::path& folder, const std::string& task, Layout layout) {
  TrainingSettings settings;
  settings.task = task;
  settings.model.block = {.width = 8, .heads = 2, .hidden = 12, .layout = layout};
  settings.model.layers = 1;
  settings.steps = 2;
  settings.telemetry = 0;
  settings.derive();
  TrainingRun run(settings, make_reverse_task({.train = 40, .validation = 8, .test = 8}));
  run.keep_in(RunFolder(folder));
  run.run();
  run.conclude();
}

}  // namespace

TEST_CASE("a run with a task or layout of another program is refused with the remedy") {
  const TemporaryFolder folder;
  make_run(folder / "task", "twins", Layout::fused);
  make_run(folder / "layout", "reverse", own_layout());
  make_run(folder / "plain", "reverse", Layout::fused);
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    const Finished run = headroom_program(std::move(arguments), folder);
    INFO(run.err);
    CHECK(run.code == 5);
    CHECK_THAT(run.err, Contains(words) && Contains("that program"));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  };
  for (const auto& [name, words] :
       {std::pair("task", "task/config.json: the task \"twins\" is not one of this program's"),
        {"layout", "layout: \"own-heads\" is not one of separate, fused, shared"}}) {
    refused({"importance", "--model", name, "--metric", "sensitivity"}, words);
    refused({"prune", "--model", name, "--keep", "2", "--out", "cut"}, words);
    refused({"train", "--resume", "--out", name}, words);
  }
  refused({"attend", "--model", "layout", "--input", "a"}, "\"own-heads\"");
  refused({"train", "--resume", "--out", "plain"},
          "plain/config.json: \"pruning\" is missing: the run was made by another program");
  CHECK_FALSE(std::filesystem::exists(folder / "cut"));
  const Finished known =
      headroom_program({"importance", "--model", "plain", "--metric", "sensitivity"}, folder);
  INFO(known.err);
  CHECK(known.code == 0);
}

TEST_CASE("inspect lists the tensors of models that this program cannot build") {
  const TemporaryFolder folder;
  make_run(folder / "layout", "reverse", own_layout());
  make_run(folder / "plain", "reverse", Layout::fused);
  const auto facts = [&](const char* model) {
    const Finished run = headroom_program({"inspect", "--json", "--model", model}, folder);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return json::parse(run.out);
  };
  json layout = facts("layout"), plain = facts("plain");
  CHECK(layout["parameters"] == plain["parameters"]);
  CHECK(layout["tensors"].size() == plain["tensors"].size());
  for (const json& tensor : plain["tensors"]) {
    CHECK(std::count(layout["tensors"].begin(), layout["tensors"].end(), tensor) == 1);
  }
  CHECK(layout["model"]["layout"] == "own-heads");
  const Finished text = headroom_program({"inspect", "--model", "layout"}, folder);
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Contains("a program with a layout of its own made this file") &&
                           Contains("encoder.layers.0.self_attn.in_proj_weight") &&
                           Contains("[24, 8]"));

  Rng rng(1);
  Linear own(3, 2, rng);
  Checkpoint checkpoint;
  checkpoint.add("model", own);
  checkpoint.save(folder / "own.safetensors");
  CHECK(facts("own.safetensors")["parameters"] == 8);
  const Finished module = headroom_program({"inspect", "--model", "own.safetensors"}, folder);
  REQUIRE(module.code == 0);
  CHECK_THAT(module.out, Contains("a program with a model of its own made this file") &&
                             Contains("weight") && Contains("[2, 3]"));
}
