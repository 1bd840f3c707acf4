// Runs that are killed and started again, by every schedule and every kind of gates: between and
// inside of events. They end in the same bits as runs that were not. tests/reliability/kills.py
// kills runs at random moments.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "headroom/io/json.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/measurements.hpp"
#include "support/recipe_run.hpp"

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

/// Numbers the places of a step at which a run can be killed, and kills it at one of them.
class Places {
 public:
  /// In step HEADROOM_TEST_STEP at place HEADROOM_TEST_PLACE; without these, all places are listed
  /// in the file HEADROOM_TEST_LIST.
  Places() {
    const auto number = [](const char* name) {
      const char* const text = std::getenv(name);
      return text == nullptr ? Index{0} : Index(std::atoll(text));
    };
    step_ = number("HEADROOM_TEST_STEP");
    place_ = number("HEADROOM_TEST_PLACE");
    if (const char* const list = std::getenv("HEADROOM_TEST_LIST")) list_.open(list);
  }
  void begin(Index step) {
    now_ = step;
    passed_ = 0;
  }
  void pass(const char* name) {
    ++passed_;
    if (list_) list_ << now_ << ' ' << passed_ << ' ' << name << '\n';
    if (now_ == step_ && passed_ == place_) raise(SIGKILL);
  }

 private:
  Index step_ = 0, place_ = 0, now_ = 0, passed_ = 0;
  std::ofstream list_;
};

/// A part of a run before or after those of the recipe.
class Watch : public StepPart {
 public:
  Watch(Places& places, bool first) : places_(&places), first_(first) {}
  void begin(Index step, HeadProbe& /*probe*/) override {
    if (first_) places_->begin(step);
    places_->pass("forward");
  }
  void after_backward() override { places_->pass("backward"); }
  void after_update(StepReport& /*report*/) override {
    places_->pass(first_ ? "before_event" : "after_event");
  }

 private:
  Places* places_;
  bool first_;
};

/// A learner that is watched while its heads are measured, which is during events only.
class WatchedLearner : public Learner {
 public:
  WatchedLearner(Places& places, std::unique_ptr<Learner> learner)
      : places_(&places), learner_(std::move(learner)) {}
  Module& model() override { return learner_->model(); }
  Index next_batch() override { return learner_->next_batch(); }
  Tensor loss(HeadProbe* probe) override { return learner_->loss(probe); }
  Record evaluate() override { return learner_->evaluate(); }
  Record test() override { return learner_->test(); }
  const char* measure() const override { return learner_->measure(); }
  BestSoFar::Better better() const override { return learner_->better(); }
  Stateful& position() override { return learner_->position(); }
  Record about() const override { return learner_->about(); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    learner_->visit(set, most, [&](const ProbedBatch& batch) {
      see(batch);
      places_->pass("inside");
    });
  }

 private:
  Places* places_;
  std::unique_ptr<Learner> learner_;
};

std::unique_ptr<Learner> watched_learner(Places& places, const TrainingSettings& settings) {
  Task task = small_task();
  const ModelConfig config = fitted_to(task, settings.model, settings.learner);
  return std::make_unique<WatchedLearner>(places,
                                          make_learner(std::move(task), config, settings.learner));
}

struct Place {
  Index step, number;
  std::string name;
};

std::vector<Place> places_in(const fs::path& list) {
  std::vector<Place> places;
  std::ifstream in(list);
  for (Place place; in >> place.step >> place.number >> place.name;) places.push_back(place);
  return places;
}

/// `count` of the places in their order, of which every second one is inside of an event while
/// there are such.
std::vector<Place> some_of(std::vector<Place> places, Index count, Rng& rng) {
  std::vector<bool> taken(places.size());
  const auto take = [&](bool inside) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!taken[i] && (places[i].name == "inside") == inside) left.push_back(i);
    }
    if (left.empty()) return false;
    taken[left[std::size_t(rng.below(std::ssize(left)))]] = true;
    return true;
  };
  for (Index i = 0; i < count; ++i) {
    if (!take(i % 2 == 0) && !take(i % 2 != 0)) break;
  }
  std::vector<Place> some;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (taken[i]) some.push_back(places[i]);
  }
  return some;
}

std::unique_ptr<ChildProcess> start(const std::string& recipe, const fs::path& folder,
                                    std::vector<std::string> more) {
  more.push_back("HEADROOM_TEST_RECIPE=" + recipe);
  more.push_back("HEADROOM_TEST_FOLDER=" + folder.string());
  more.push_back("OMP_NUM_THREADS=1");
  return std::make_unique<ChildProcess>("child: a run by a recipe", more);
}

/// Kills one run by each of these recipes at so many places.
void kill_runs(const std::vector<std::string>& names, Index places) {
  const TemporaryFolder folder;
  Rng rng(3, "kills");
  for (const std::string& name : names) {
    const PruningRecipe recipe = recipes().at(name);
    INFO(name);
    const fs::path whole = folder / (name + ", whole"), killed = folder / (name + ", killed"),
                   list = folder / "list";
    REQUIRE(start(name, whole, {"HEADROOM_TEST_LIST=" + list.string()})->wait() == 0);
    const std::vector<Place> all = places_in(list);
    const bool measures = recipe.remove > 0 || (recipe.gates && !recipe.chooser.empty());
    const bool inside = std::any_of(all.begin(), all.end(),
                                    [](const Place& place) { return place.name == "inside"; });
    CHECK(inside == measures);
    const std::vector<Place> chosen = some_of(all, places, rng);
    CHECK(std::ssize(chosen) == places);
    for (const Place& place : chosen) {
      INFO("killed at place " << place.number << " of step " << place.step << ", " << place.name);
      REQUIRE(start(name, killed,
                    {"HEADROOM_TEST_STEP=" + std::to_string(place.step),
                     "HEADROOM_TEST_PLACE=" + std::to_string(place.number)})
                  ->wait() == -SIGKILL);
    }
    REQUIRE(start(name, killed, {})->wait() == 0);
    for (const char* file : {"checkpoint.safetensors", "best.safetensors"}) {
      INFO(file);
      const bool same = read_file(killed / file) == read_file(whole / file);
      CHECK(same);
    }
    CHECK(measurements(killed / "metrics.jsonl") == measurements(whole / "metrics.jsonl"));
  }
}

}  // namespace

// In the child: trains by the recipe HEADROOM_TEST_RECIPE in HEADROOM_TEST_FOLDER, or goes on
// there.
TEST_CASE("child: a run by a recipe", "[.]") {
  const char* const name = std::getenv("HEADROOM_TEST_RECIPE");
  const char* const folder = std::getenv("HEADROOM_TEST_FOLDER");
  REQUIRE((name != nullptr && folder != nullptr));
  TrainingSettings settings = recipe_settings();
  settings.telemetry = 4;
  settings.evaluate_every = 4;
  settings.save_every = 3;
  settings.derive();
  Places places;
  TrainingRun run(settings, watched_learner(places, settings));
  Watch first(places, true), last(places, false);
  run.add("first", first);
  PruningParts parts(run, recipes().at(name));
  run.add("last", last);
  run.each([&](StepReport& /*report*/) { places.pass("before_log"); });
  run.keep_in(RunFolder(folder, IfExists::resume_or_start));
  REQUIRE(run.run());
}

TEST_CASE("a run that is killed between and inside of events ends in the same bits", "[slow]") {
  kill_runs({"iterative, compensated", "gradual, regrowth, stash", "one_shot, regrowth, fresh",
             "hard_concrete gates"},
            2);
}

TEST_CASE("a run that is killed at 50 places ends in the same bits", "[long]") {
  std::vector<std::string> names;
  for (const auto& [name, recipe] : recipes()) names.push_back(name);
  CHECK(names.size() >= 28);
  kill_runs(names, 50);
}
