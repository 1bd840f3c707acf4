// The arms of the demo.
#include "cli/demo/demo_arms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "cli/demo/demo_heads.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int draws = 5;  // of random heads

std::vector<HeadId> in_random_order(std::vector<HeadId> heads, Rng rng) {
  shuffle(heads, rng);
  return heads;
}

std::vector<HeadId> costliest_first(std::vector<HeadScore> costs) {
  for (HeadScore& score : costs) score.score = -score.score;
  return least_important_first(costs);
}

}  // namespace

std::vector<DemoCut> demo_cuts(const DemoSetup& setup, const std::filesystem::path& checkpoint,
                               Module& model, const std::vector<HeadId>& chosen,
                               const std::vector<HeadScore>& costs) {
  std::vector<DemoCut> cuts{{setup, checkpoint.string(), as_long, {}}};
  DemoSetup of_arms = setup;
  of_arms.prune_steps = 0;  // all heads are cut at once
  const auto add = [&](const std::string& choice, const std::vector<HeadId>& order, Index remove) {
    cuts.push_back(
        {of_arms, checkpoint.string(), choice, first_allowed(model, order, remove, demo_budget)});
  };
  add("none", chosen, 0);
  for (const Index remove : {setup.remove_few, setup.remove}) {
    add(demo_metric, chosen, remove);
    for (int draw = 0; draw < draws; ++draw) {
      const Rng rng(setup.seed, fmt::format("random cut {}", draw));
      add("random", in_random_order(live_heads(model), rng), remove);
    }
    add("costliest", costliest_first(costs), remove);
  }
  return cuts;
}

CutResult run_cut(TrainingRun& run, const DemoCut& cut) {
  run.load(cut.checkpoint);
  run.optimizer().apply(prune(run.model(), cut.heads));
  CutResult result;
  result.cut = test_exact_match(run);
  while (run.steps() < cut.setup.steps()) run.step();
  result.recovered = test_exact_match(run);
  return result;
}

std::optional<CutResult> run_cut_in_child(const DemoCut& cut) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  const ChildResult child =
      run_child({own, "demo", "--arm", "--threads", "1"}, json_of(cut).dump());
  for (const int stop : {SIGHUP, SIGINT, SIGTERM, SIGUSR1}) {
    if (child.code == 128 + stop) return {};
  }
  if (child.code != 0) {
    throw Error(fmt::format("demo: the arm \"{}\" failed with exit code {}: {}", cut.choice,
                            child.code, child.err));
  }
  return struct_of<CutResult>(parse_json(child.out, "arm"), "arm");
}

std::optional<ArmsRecord> run_cuts(const std::vector<DemoCut>& cuts, const CutRunner& run,
                                   int at_once, const std::function<void(Index)>& finished) {
  std::vector<std::optional<CutResult>> results(cuts.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex one_at_a_time;
  std::exception_ptr failed;
  Index done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cuts.size() && !stopped; i = next++) {
      try {
        results[i] = run(cuts[i]);
        const std::lock_guard lock(one_at_a_time);
        if (results[i]) {
          finished(++done);
        } else {
          stopped = true;
        }
      } catch (...) {
        const std::lock_guard lock(one_at_a_time);
        if (!failed) failed = std::current_exception();
        stopped = true;
      }
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < at_once; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failed) std::rethrow_exception(failed);
  if (stopped) return {};

  ArmsRecord all{.recovery = cuts.back().setup.prune_steps + cuts.back().setup.recover_steps,
                 .chosen_by = demo_metric};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto removed = Index(cuts[i].heads.size());
    auto arm = std::find_if(all.arms.begin(), all.arms.end(), [&](const ArmRecord& other) {
      return other.choice == cuts[i].choice && other.removed == removed;
    });
    if (arm == all.arms.end()) {
      arm = all.arms.insert(arm, {.choice = cuts[i].choice, .removed = removed});
    }
    arm->cut.push_back(results[i]->cut);
    arm->recovered.push_back(results[i]->recovered);
  }
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
