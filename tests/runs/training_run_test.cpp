// Training runs: the files that they write, parts in the checkpoint, stop and resume.
#include "headroom_runs/runs/training_run.hpp"

#include <csignal>

#include "headroom/base/error.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom/optim/sgd.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/measured_after.hpp"
#include "support/catch.hpp"
#include "support/measurements.hpp"
#include "support/small_settings.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

TrainingSettings logged_settings() {
  TrainingSettings settings = small_settings(24, Real(0.1));
  settings.data.seed = 3;
  settings.rate = {.shape = RateShape::cosine, .peak = 5e-3, .warmup = 5};
  settings.evaluate_every = 8;
  settings.save_every = 5;
  settings.telemetry = 6;
  settings.snapshots = {7, 20};
  settings.derive();
  return settings;
}

/// Counts the steps, and is unsettled before step 10.
struct Counter : StepPart, Stateful {
  Index steps = 0;
  void after_update(StepReport& report) override {
    ++steps;
    report.settled = report.step >= 10;
  }
  void save_state(StateWriter to) const override { to.integer("steps", steps); }
  void load_state(const StateReader& from) override { steps = from.integer("steps"); }
};

std::vector<Real> all_values(Module& model) {
  std::vector<Real> values;
  for (const NamedParameter& p : parameters(model)) {
    const std::span<const Real> own = p.tensor.value().span();
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

/// One run or a part of it; with `stop_at`, a signal comes in that step.
bool train(const fs::path& folder, Counter& counter, Index stop_at = 0) {
  TrainingRun run(logged_settings(), small_task(12));
  run.add("counter", counter);
  run.each([&](const StepReport& report) {
    if (report.step == stop_at) raise(SIGTERM);
  });
  run.keep_in(RunFolder(folder, IfExists::resume_or_start));
  const StopSignals signals;
  const bool finished = run.run(&signals);
  if (finished) run.conclude({{"note", "done"}});
  return finished;
}

}  // namespace

TEST_CASE("a run that is stopped and resumed leaves the files of one that was not") {
  const TemporaryFolder folder;
  Counter whole, first, second, third;
  CHECK(train(folder / "whole", whole));
  CHECK_FALSE(train(folder / "parts", first, 9));
  CHECK_FALSE(train(folder / "parts", second, 17));
  CHECK(train(folder / "parts", third));
  CHECK(first.steps == 9);
  CHECK(third.steps == 24);
  for (const char* name :
       {"checkpoint.safetensors", "best.safetensors", "summary.json", "config.json",
        "snapshots/step-000007.safetensors", "snapshots/step-000020.safetensors"}) {
    INFO(name);
    const bool same = read_file(folder / "whole" / name) == read_file(folder / "parts" / name);
    CHECK(same);
  }
  CHECK(RunFolder(folder / "whole", IfExists::resume).snapshots() == std::vector<Index>{7, 20});
  const std::vector<Record> lines = measurements(folder / "whole/metrics.jsonl");
  CHECK(measurements(folder / "parts/metrics.jsonl") == lines);
  // Steps 10, 20 and 24; evaluations at 8 and 16; telemetry at 6, 12, 18 and 24.
  CHECK(lines.size() == 3 + 2 + 4);

  const Record summary = parse_json(read_file(folder / "whole/summary.json"), "summary");
  CHECK(summary["task"] == "reverse");
  CHECK(summary["seed"] == 3);
  CHECK(summary["steps"] == 24);
  CHECK(summary["heads_alive"] == 12);
  CHECK(summary["test"].contains("exact_match"));
  CHECK(summary["note"] == "done");
  CHECK(summary["best_step"] == 16);  // step 8 was unsettled; nothing is better than the next one
}

TEST_CASE("settings are the same after config.json, and errors in it are named") {
  TrainingSettings settings = logged_settings();
  settings.data.data = "some/where";
  settings.data.stress = true;
  settings.data.split = WordSplit::cmusphinx;
  settings.rate.shape = RateShape::linear;
  settings.rate.floor = 1e-4;
  settings.learner.length = 17;
  settings.derive();
  const Record record = settings.to_record();
  const TrainingSettings again = TrainingSettings::from_record(record, "config.json");
  CHECK(again.to_record() == record);
  CHECK(again.learner.seed == 3);
  CHECK(again.rate.steps == 24);
  CHECK(again.data.window == 17);

  const auto refused = [&](const char* section, const char* key, const Record& value) {
    Record wrong = record;
    if (value.is_null()) {
      wrong[section].erase(key);
    } else {
      wrong[section][key] = value;
    }
    CHECK_THROWS_AS(TrainingSettings::from_record(wrong, "config.json"), FileError);
    CHECK_THROWS_WITH(TrainingSettings::from_record(wrong, "config.json"),
                      Contains("config.json") && Contains(key));
  };
  refused("training", "steps", 2.5);
  refused("training", "clip", Record());
  refused("training", "schedule", "cosin");
  refused("task", "name", 3);
  refused("task", "stress", 1);
  refused("model", "width", "wide");
  CHECK_THROWS_WITH(TrainingSettings::from_record({{"task", Record::object()}}, "config.json"),
                    Contains("no \"model\""));
  Record text = record;
  text["task"] = "foo";
  CHECK_THROWS_WITH(TrainingSettings::from_record(text, "config.json"),
                    Contains("\"task\" must be an object"));
}

TEST_CASE("settings that few programs set survive config.json, and a seed has 64 bits") {
  TrainingSettings settings = logged_settings();
  settings.data.seed = ~std::uint64_t{0};
  settings.derive();
  CHECK_FALSE(settings.to_record()["training"].contains("schedule_steps"));
  settings.data.train = 1;
  settings.data.validation = 2;
  settings.data.test = 3;
  settings.learner.quick = 4;
  settings.rate.steps = 5;
  CHECK_FALSE(settings.to_record()["training"].contains("optimizer"));
  settings.optimizer.kind = OptimizerKind::muon;
  settings.optimizer.granularity = Granularity::head;
  const TrainingSettings again = TrainingSettings::from_record(settings.to_record(), "config.json");
  CHECK(again.data.seed == ~std::uint64_t{0});
  CHECK(again.data.train == 1);
  CHECK(again.data.validation == 2);
  CHECK(again.data.test == 3);
  CHECK(again.learner.quick == 4);
  CHECK(again.rate.steps == 5);
  CHECK(again.optimizer.kind == OptimizerKind::muon);
  CHECK(again.optimizer.granularity == Granularity::head);
  Record negative = settings.to_record();
  negative["task"]["seed"] = -1;
  CHECK_THROWS_WITH(TrainingSettings::from_record(negative, "config.json"), Contains("\"seed\""));
}

TEST_CASE("a run does not resume with other settings than it began with") {
  const TemporaryFolder folder;
  Counter counter;
  CHECK_FALSE(train(folder / "run", counter, 9));
  TrainingSettings other = logged_settings();
  other.rate.peak *= 2;
  TrainingRun run(other, small_task(12));
  Counter again;
  run.add("counter", again);
  CHECK_THROWS_AS(run.keep_in(RunFolder(folder / "run", IfExists::resume_or_start)), FileError);
  CHECK_THROWS_WITH(run.keep_in(RunFolder(folder / "run", IfExists::resume_or_start)),
                    Contains("peak_rate") && Contains("config.json"));
  CHECK(run.steps() == 0);

  TrainingSettings rare = logged_settings();
  rare.learner.quick = 5;
  CHECK_THROWS_WITH(TrainingRun(rare, small_task(12))
                        .keep_in(RunFolder(folder / "run", IfExists::resume_or_start)),
                    Contains("\"evaluated_examples\" is the default, but this run has 5"));

  other.data.seed = 4;  // without derive()
  CHECK_THROWS_WITH(TrainingRun(other, small_task(12)), Contains("derive()"));
}

TEST_CASE("a run whose learning rate is a function needs the same function to resume") {
  const TemporaryFolder folder;
  const auto started = [&](const char* text, double rate, Index until) {
    auto run = std::make_unique<TrainingRun>(logged_settings(), small_task(12));
    run->set_rate([rate](Index step) { return step < 12 ? rate : rate / 2; }, text);
    run->keep_in(RunFolder(folder / "run", IfExists::resume_or_start));
    run->run(nullptr, until);
    return run;
  };
  CHECK(started("0.01, halved after 12 steps", 0.01, 9)->steps() == 9);
  const fs::path config = folder / "run/config.json";
  CHECK(parse_json(read_file(config), "config")["training"]["rate_function"] ==
        "0.01, halved after 12 steps");
  CHECK_THROWS_WITH(
      started("0.02, halved after 12 steps", 0.02, 0),
      Contains("\"rate_function\" is \"0.01, halved after 12 steps\"") && Contains("0.02"));
  TrainingRun stored(
      TrainingSettings::from_record(parse_json(read_file(config), "config"), "config"),
      small_task(12));
  CHECK_THROWS_WITH(stored.step(), Contains("\"0.01, halved after 12 steps\"") &&
                                       Contains("give it with set_rate()"));
  const auto resumed = started("0.01, halved after 12 steps", 0.01, 0);
  CHECK(resumed->steps() == logged_settings().steps);
  CHECK_THROWS_AS(resumed->set_rate([](Index) { return 1.0; }, "late"), UsageError);

  TrainingRun whole(logged_settings(), small_task(12));
  whole.set_rate([](Index step) { return step < 12 ? 0.01 : 0.005; }, "the same");
  whole.run();
  CHECK(all_values(whole.model()) == all_values(resumed->model()));
  TrainingRun usual(logged_settings(), small_task(12));
  usual.run();
  CHECK(all_values(whole.model()) != all_values(usual.model()));
}

TEST_CASE("a run that could not take its best model at the end does not resume") {
  const TemporaryFolder folder;
  Counter counter;
  CHECK_FALSE(train(folder / "run", counter, 20));
  const fs::path best = folder / "run/best.safetensors";
  const std::string sound = read_file(best);
  const auto refused = [&](const std::string& words) {
    Counter again;
    TrainingRun run(logged_settings(), small_task(12));
    run.add("counter", again);
    CHECK_THROWS_AS(run.keep_in(RunFolder(folder / "run", IfExists::resume)), FileError);
    CHECK_THROWS_WITH(run.keep_in(RunFolder(folder / "run", IfExists::resume)), Contains(words));
  };
  fs::remove(best);
  refused("best.safetensors");
  write_file(best, sound.substr(0, sound.size() - 8));
  refused("best.safetensors");
  TrainingSettings other = logged_settings();
  other.model.block.heads = 2;
  TrainingRun wide(other, small_task(12));
  wide.keep_in(RunFolder(folder / "other"));
  wide.run();
  fs::copy_file(folder / "other/checkpoint.safetensors", best,
                fs::copy_options::overwrite_existing);
  refused("best.safetensors: is not a model of this run");
  write_file(best, sound);
  Counter again;
  CHECK(train(folder / "run", again));
}

TEST_CASE("a run whose log the report could not read does not resume") {
  const TemporaryFolder folder;
  Counter counter;
  CHECK_FALSE(train(folder / "run", counter, 20));
  const fs::path log = folder / "run/metrics.jsonl";
  const std::string lines = read_file(log);
  Record first = parse_json(lines.substr(0, lines.find('\n')), "line");
  first["step"] = 1;
  first[first.contains("record") ? "entropy" : "loss"] = "low";
  write_file(log, first.dump() + lines.substr(lines.find('\n')));
  Counter again;
  TrainingRun run(logged_settings(), small_task(12));
  run.add("counter", again);
  run.keep_in(RunFolder(folder / "run", IfExists::resume), Changes::accept);
  CHECK_THROWS_AS(run.run(), FileError);
  CHECK(run.steps() == 20);
}

TEST_CASE("a checkpoint whose texts mean nothing is refused, whatever its checksums say") {
  const TemporaryFolder folder;
  Counter counter;
  CHECK_FALSE(train(folder / "run", counter, 20));
  const fs::path checkpoint = folder / "run/checkpoint.safetensors";
  TensorFile file = TensorFile::read(checkpoint);
  Record manifest = parse_json(file.metadata.at("manifest"), "manifest");
  manifest["settings"] = Record::array({1});
  file.metadata["manifest"] = manifest.dump();
  add_checksums(file);
  file.write(checkpoint);
  TrainingRun run(logged_settings(), small_task(12));
  CHECK_THROWS_AS(run.keep_in(RunFolder(folder / "run", IfExists::resume)), FileError);
  CHECK_THROWS_WITH(run.keep_in(RunFolder(folder / "run", IfExists::resume)),
                    Contains("\"manifest\": settings must be an object"));

  MeasuredAfter measured(run.learner(), 8, true);
  TensorFile broken;
  StateWriter(broken, "after_cut.").record("result", {{"step", 8}, {"validation", 3}});
  CHECK_THROWS_AS(measured.load_state(StateReader(broken, "after_cut.")), FileError);
}

TEST_CASE("a number of steps that cannot be true is refused before anything changes") {
  const TemporaryFolder folder;
  Counter counter;
  CHECK_FALSE(train(folder / "run", counter, 20));
  const fs::path checkpoint = folder / "run/checkpoint.safetensors";
  const std::string log = read_file(folder / "run/metrics.jsonl");
  const TensorFile sound = TensorFile::read(checkpoint);
  const std::vector<std::pair<const char*, const char*>> forged{
      {"3", "3 steps, but decoder."},
      {"25", "25 steps were done, but the run has 24"},
      {"9223372036854775807", "9223372036854775807 steps were done, but the run has 24"}};
  for (const auto& [steps, words] : forged) {
    TensorFile file = sound;
    file.metadata["trainer.steps"] = steps;
    file.metadata.erase(checksums_key);
    file.write(checkpoint);
    CHECK_THROWS_AS(train(folder / "run", counter), FileError);
    CHECK_THROWS_WITH(train(folder / "run", counter),
                      Contains("checkpoint.safetensors: \"trainer.steps\": ") && Contains(words));
    CHECK(read_file(folder / "run/metrics.jsonl") == log);
  }
  sound.write(checkpoint);
  CHECK(train(folder / "run", counter));
}

TEST_CASE("a configuration beyond its checkpoint is refused before its model is built") {
  const TemporaryFolder folder;
  TrainingRun run(logged_settings(), make_task("reverse", {.seed = 3}));
  run.keep_in(RunFolder(folder / "run"));
  Record config = run.folder().read_config();
  run.save(run.folder().checkpoint());
  config["model"]["width"] = 10'000'000;
  run.folder().write_config(config);
  CHECK_THROWS_AS(load_learner(folder / "run"), FileError);
  CHECK_THROWS_WITH(load_learner(folder / "run"),
                    Contains("config.json: \"model\": describes a larger model"));
}

TEST_CASE("a snapshot is the checkpoint of a run that was stopped after its step") {
  const TemporaryFolder folder;
  Counter whole, stopped;
  CHECK(train(folder / "whole", whole));
  CHECK_FALSE(train(folder / "stopped", stopped, 7));
  const bool same = read_file(folder / "whole/snapshots/step-000007.safetensors") ==
                    read_file(folder / "stopped/checkpoint.safetensors");
  CHECK(same);
  CHECK(folder_of(folder / "whole/snapshots/step-000007.safetensors") == folder / "whole");
  CHECK(folder_of(folder / "whole/checkpoint.safetensors") == folder / "whole");
  CHECK(folder_of(folder / "whole") == folder / "whole");
}

TEST_CASE("a part whose name is taken takes no part in a step") {
  TrainingRun run(logged_settings(), small_task(12));
  Counter counter;
  CHECK_THROWS_AS(run.add("optimizer", counter), UsageError);
  run.step();
  CHECK(counter.steps == 0);
}

TEST_CASE("a part cannot be added where its saved state would be lost") {
  const TemporaryFolder folder;
  TrainingRun run(logged_settings(), small_task(12));
  CHECK_THROWS_WITH(run.folder(), Contains("keep_in()"));
  run.keep_in(RunFolder(folder / "run"));
  Counter late;
  CHECK_THROWS_WITH(run.add("late", late), Contains("add \"late\" before keep_in()"));
}

TEST_CASE("a run without a folder trains, and writes nothing") {
  TrainingSettings settings = logged_settings();
  settings.evaluate_every = 0;
  settings.telemetry = 0;
  TrainingRun run(settings,
                  make_learner(small_task(12), fitted_to(small_task(12), settings.model, {}),
                               settings.learner));
  Index seen = 0;
  run.every(7, [&](const StepReport& report) { seen += report.step; });
  CHECK(run.run());
  CHECK(seen == 7 + 14 + 21 + 24);
  CHECK(run.conclude()["best_step"] == 24);
}

TEST_CASE("phases of the learning rate begin where they are added") {
  TrainingSettings settings = logged_settings();
  settings.rate = {.peak = 1e-3};
  TrainingRun run(settings, small_task(12));
  run.add_phase(3, {.peak = 4e-3, .warmup = 2});
  std::vector<double> rates;
  for (int i = 0; i < 6; ++i) rates.push_back(run.step().rate);
  CHECK(rates == std::vector<double>{1e-3, 1e-3, 1e-3, 2e-3, 4e-3, 4e-3});
  CHECK_THROWS_WITH(run.add_phase(3, {}), Contains("a phase from step 3 cannot follow"));
}

TEST_CASE("a model is measured right after a step, and the run stays the same") {
  const TemporaryFolder folder;
  TrainingRun plain(logged_settings(), small_task(12));
  plain.keep_in(RunFolder(folder / "plain", IfExists::refuse));
  plain.run();
  Record first, regular;
  for (const Index until : {10, 0}) {  // up to step 10, then resumed
    TrainingRun run(logged_settings(), small_task(12));
    MeasuredAfter at_eight(run.learner(), 8, true), never(run.learner(), 25, false);
    run.add("eight", at_eight);
    run.add("never", never);
    run.each([&](const StepReport& report) {
      if (report.step == 8) regular = report.metrics;
    });
    run.keep_in(RunFolder(folder / "measured", IfExists::resume_or_start));
    run.run(nullptr, until);
    if (until > 0) first = at_eight.result();
    CHECK(at_eight.result() == first);
    CHECK(never.result().empty());
  }
  CHECK(first["step"] == 8);
  CHECK(first["heads_alive"] == 12);
  CHECK(first["test"].contains("exact_match"));
  CHECK(first["validation"].contains("validation_loss"));
  CHECK(first["validation"] == regular);  // of the regular evaluation after this step
  CHECK(measurements(folder / "measured/metrics.jsonl") ==
        measurements(folder / "plain/metrics.jsonl"));
}
