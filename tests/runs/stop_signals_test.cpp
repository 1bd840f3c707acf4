// Ctrl-C, SIGTERM, SIGUSR1 and SIGHUP: the first one finishes the step and saves the run, the
// second one ends it at once.
#include "headroom/train/stop_signals.hpp"

#include <csignal>
#include <cstdlib>
#include <thread>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/small_training.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
namespace fs = std::filesystem;

namespace {

Index line_count(const fs::path& path) {
  if (!fs::exists(path)) return 0;
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

/// Waits until a file has a line: then the child is training.
void await_line(const fs::path& path, ChildProcess& child) {
  while (line_count(path) == 0 && child.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

// In the child: trains without end, saves when stopped, exits as the program would.
TEST_CASE("child: train until stopped", "[.]") {
  const fs::path path = std::getenv("HEADROOM_TEST_FOLDER");
  const bool stuck = std::getenv("HEADROOM_TEST_STUCK") != nullptr;
  const RunFolder folder(path);
  SmallRun run;
  MetricsLog log(folder.metrics());
  const StopSignals stop;
  TrainingLoop loop(1000000, [&] { return run.step(); });
  loop.each(std::ref(log));
  loop.each([&](StepReport&) {
    if (!stuck) return;
    for (int i = 0; i < 12000 && !stop.requested(); ++i) {  // a minute at most
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    write_file(path / "asked", "\n");
    std::this_thread::sleep_for(std::chrono::seconds(60));
  });
  loop.at_end([&](StepReport&) { run.checkpoint.save(folder.checkpoint()); });
  const bool done = loop.run(0, &stop);
  std::_Exit(done ? 99 : stop.exit_code());
}

TEST_CASE("the first signal finishes the step, saves, and gives its exit code") {
  for (const auto& [signal, code] :
       {std::pair(SIGINT, 130), {SIGTERM, 143}, {SIGUSR1, 138}, {SIGHUP, 129}}) {
    const TemporaryFolder folder;
    ChildProcess child("child: train until stopped",
                       {"HEADROOM_TEST_FOLDER=" + (folder / "run").string()});
    await_line(folder / "run/metrics.jsonl", child);
    child.send(signal);
    CHECK(child.wait() == code);
    SmallRun resumed;
    resumed.checkpoint.load(folder / "run/checkpoint.safetensors");
    CHECK(resumed.trainer.steps() == line_count(folder / "run/metrics.jsonl"));
  }
}

TEST_CASE("the second signal ends at once") {
  const TemporaryFolder folder;
  ChildProcess child(
      "child: train until stopped",
      {"HEADROOM_TEST_STUCK=1", "HEADROOM_TEST_FOLDER=" + (folder / "run").string()});
  await_line(folder / "run/metrics.jsonl", child);
  child.send(SIGINT);
  await_line(folder / "run/asked", child);  // two pending signals become one
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(child.running());  // it is stuck in its step
  const auto before = std::chrono::steady_clock::now();
  child.send(SIGINT);
  CHECK(child.wait() == 130);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
}

TEST_CASE("SIGUSR1 asks, and does not count as the first or second signal") {
  const StopSignals stop;
  raise(SIGUSR1);
  CHECK(stop.exit_code() == 138);
  raise(SIGUSR1);
  raise(SIGTERM);
  raise(SIGUSR1);
  CHECK(stop.exit_code() == 143);
}

TEST_CASE("afterwards signals do what they did before, and the next watcher starts afresh") {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const auto usual = std::signal(signal, SIG_IGN);
    {
      const StopSignals stop;
      raise(signal);
      CHECK(stop.requested());
    }
    CHECK_FALSE(StopSignals().requested());
    const bool ignored_again = std::signal(signal, usual) == SIG_IGN;
    CHECK(ignored_again);
  }
}

TEST_CASE("a closed terminal stops nothing under nohup") {
  const auto usual = std::signal(SIGHUP, SIG_IGN);
  const StopSignals stop;
  raise(SIGHUP);
  CHECK_FALSE(stop.requested());
  std::signal(SIGHUP, usual);
}

TEST_CASE("without a signal nothing is requested, and only one may watch") {
  const StopSignals stop;
  CHECK_FALSE(stop.requested());
  CHECK(stop.exit_code() == 0);
  CHECK_THROWS_AS(StopSignals(), UsageError);
  raise(SIGTERM);
  CHECK(stop.requested());
  CHECK(stop.exit_code() == 143);
}

TEST_CASE("a signal at any moment between two steps ends the loop with the observers of its end") {
  for (int round = 0; round < 300; ++round) {
    const StopSignals stop;
    Index now = 0, saved = 0;
    TrainingLoop loop(Index(1) << 40, [&now] {
      StepReport report;
      report.step = ++now;
      report.lines.assign(200, {{"key", "value"}});  // freed between two steps, which takes a while
      return report;
    });
    loop.at_end([&saved](StepReport& report) { saved = report.step; });
    std::thread sender([round] {
      std::this_thread::sleep_for(std::chrono::microseconds(50 + round));
      kill(getpid(), SIGINT);
    });
    CHECK_FALSE(loop.run(0, &stop));
    sender.join();
    CHECK(saved == now);
  }
}
