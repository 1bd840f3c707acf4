// Resume: a run that is killed repeatedly ends with the same bytes as an uninterrupted one.
#include <csignal>
#include <cstdlib>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "runs/watched_run.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/measurements.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
namespace fs = std::filesystem;

namespace {

constexpr Index telemetry_every = 3;

}  // namespace

// In the child: trains in HEADROOM_TEST_FOLDER, resuming an existing run, and kills itself in step
// HEADROOM_TEST_KILL, at one of three places.
TEST_CASE("child: train or resume", "[.]") {
  const char* const folder_name = std::getenv("HEADROOM_TEST_FOLDER");
  const char* const kill_step = std::getenv("HEADROOM_TEST_KILL");
  REQUIRE(folder_name != nullptr);
  const Index kill_at = kill_step == nullptr ? 0 : std::atoll(kill_step);

  const bool begun = fs::exists(fs::path(folder_name) / "config.json");
  RunFolder folder(folder_name, begun ? IfExists::resume : IfExists::force);
  folder.write_config({{"task", "reverse"}});
  WatchedRun run(Layout::separate, telemetry_every);
  if (folder.resumes()) run.checkpoint.load(folder.checkpoint());
  MetricsLog log(folder.metrics(), run.trainer.steps());

  const auto die = [&](Index step, Index place) {
    if (step == kill_at && kill_at % 3 == place) raise(SIGKILL);
  };
  TrainingLoop loop(SmallRun::steps, [&] {
    const StepReport report = run.step();
    die(report.step, 0);  // before anything of this step is written
    return report;
  });
  loop.each([&](StepReport& report) { run.prune_when_due(report); });
  loop.each(std::ref(log));
  loop.each([&](StepReport& report) {
    for (const Record& line : report.lines) log.write(line);
  });
  loop.each([&](StepReport& report) { die(report.step, 1); });
  loop.every(SmallRun::save_every, [&](StepReport&) { run.checkpoint.save(folder.checkpoint()); });
  loop.each([&](StepReport& report) { die(report.step, 2); });
  REQUIRE(loop.run(run.trainer.steps()));
}

TEST_CASE("a run that is killed at random steps ends in the same bytes") {
  const TemporaryFolder folder;
  const auto child = [&](const char* name, const std::vector<std::string>& more) {
    std::vector<std::string> environment = more;
    environment.push_back("HEADROOM_TEST_FOLDER=" + (folder / name).string());
    return std::make_unique<ChildProcess>("child: train or resume", environment);
  };
  REQUIRE(child("whole", {"OMP_NUM_THREADS=2"})->wait() == 0);

  Rng rng(is_double ? 17 : 18, "kills");
  Index kill_at = 0;
  for (int round = 0; round < 6; ++round) {
    kill_at += 1 + rng.below(4);
    CAPTURE(kill_at);
    const std::string variable = "HEADROOM_TEST_KILL=" + std::to_string(kill_at);
    CHECK(child("killed", {"OMP_NUM_THREADS=1", variable})->wait() == -SIGKILL);
  }
  const std::string whole = read_file(folder / "whole/checkpoint.safetensors");
  const std::vector<Record> lines = measurements(folder / "whole/metrics.jsonl");
  CHECK(lines.size() == SmallRun::steps + SmallRun::steps / telemetry_every);
  REQUIRE(child("killed", {"OMP_NUM_THREADS=1"})->wait() == 0);
  CHECK(read_file(folder / "killed/checkpoint.safetensors") == whole);
  CHECK(measurements(folder / "killed/metrics.jsonl") == lines);
}
