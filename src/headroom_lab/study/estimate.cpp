// Estimates the time of a study from short runs of its trunk.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/json.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/study/run.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "study/jobs.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// A temporary folder.
struct Scratch {
  fs::path path = fs::temp_directory_path() / fmt::format("headroom-study-{}", getpid());
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// The times of a short run.
struct Probe {
  double seconds = 0;       // of the whole run
  double step_seconds = 0;  // median
  Index evaluations = 0, evaluate_every = 0;
};

/// Makes short runs of the first trunk.
class Prober {
 public:
  Prober(const StudyDeclaration& declaration, const StudyPlan& plan, const StudyOptions& options)
      : declaration_(declaration), trunk_(plan.trunks.front()), options_(options) {}

  static constexpr Index steps = 20;

  /// Trains `steps` steps with other options. `name` says what is measured.
  Probe train(const std::string& name, const GivenSettings& options,
              const Words& more = {"--no-test"}) const {
    announce(name);
    GivenSettings all = options;
    all.insert(trunk_.options.begin(), trunk_.options.end());
    all["steps"] = steps;
    Words words{options_.program, "train",     "--out", scratch_.path.string(),
                "--force",        "--threads", "1",     "--no-page"};
    for (const Words& part :
         {words_of(all), data_words(trunk_.seed, trunk_.fold, declaration_), more}) {
      words.insert(words.end(), part.begin(), part.end());
    }
    Probe found{.seconds = seconds_of(words)};
    std::vector<double> times;
    std::ifstream metrics(scratch_.path / "metrics.jsonl");
    for (std::string line; std::getline(metrics, line);) {
      const Record record = parse_json(line, "metrics.jsonl");
      if (record.contains("ms")) times.push_back(record["ms"].get<double>() / 1000);
      if (record.contains("validation_loss")) ++found.evaluations;
    }
    found.step_seconds = times.empty() ? 0 : median(times);
    const std::string config = (scratch_.path / "config.json").string();
    found.evaluate_every =
        json_integer(parse_json(read_file(config), config)["training"], "evaluate_every", config);
    return found;
  }

  /// Scores the heads of the newest run.
  double score() const {
    announce("the scores of a trunk's heads");
    Words words =
        scores_command(trunk_, declaration_, (scratch_.path / "checkpoint.safetensors").string());
    words.insert(words.begin(), options_.program);
    return seconds_of(words);
  }

 private:
  void announce(const std::string& name) const {
    if (options_.timing) options_.timing(name);
  }

  static double seconds_of(const Words& words) {
    const auto began = std::chrono::steady_clock::now();
    const ChildResult result = ChildProgram(words, "", {"OMP_NUM_THREADS=1"}).wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (result.code == 0) return took.count();
    const std::size_t error = result.err.rfind("error: ");
    throw UsageError(
        fmt::format("a short run of the study fails, so the study would fail too: {}",
                    error == std::string::npos ? result.err : result.err.substr(error + 7)));
  }

  const StudyDeclaration& declaration_;
  const TrunkPlan& trunk_;
  const StudyOptions& options_;
  Scratch scratch_;
};

/// The metric, chooser or method of learned gates that chooses heads in a cell; empty if none.
std::string choice_of(const StudyCell& cell) {
  if (cell.control) return "";
  const PruningRecipe recipe = cell.settings().pruning;
  return recipe.gates ? recipe.gates->method : recipe.chooser;
}

/// The number of times that a cell chooses heads.
Index choices_of(const StudyCell& cell) {
  const PruningRecipe recipe = cell.settings().pruning;
  if (recipe.gates || recipe.rescoring != Rescoring::each_event) return 1;
  if (std::holds_alternative<OneShot>(recipe.pace)) return 1;
  if (const auto* rounds = std::get_if<Iterative>(&recipe.pace)) return rounds->rounds;
  return std::min(most_gradual_removals, recipe.remove);
}

/// The times of the choices of a study's cells.
class ChoiceTimes {
 public:
  ChoiceTimes(const Prober& prober, const Probe& plain) : prober_(prober), plain_(plain) {}

  /// Measured at the first call, with the largest number of heads that any such cell removes.
  StudyEstimate::Choice& of(const StudyCell& cell, const StudyPlan& plan) {
    const std::string name = choice_of(cell);
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const StudyEstimate::Choice& c) { return c.by == name; });
    if (known != all_.end()) return *known;
    GivenSettings options;
    for (const auto& [option, value] : cell.options) {
      const bool of_pace = option.starts_with("prune_") || option == "rescore";
      if (!of_pace && option != "steps") options[option] = value;
    }
    for (const StudyCell& other : plan.cells) {
      if (choice_of(other) != name) continue;
      if (other.options.at("prune") > options["prune"])
        options["prune"] = other.options.at("prune");
    }
    StudyEstimate::Choice choice{.by = name};
    if (options.contains("gates")) {
      options["prune_from"] = 1;
      options["prune_over"] = Prober::steps - 1;
      choice.step_seconds =
          std::max(0.0, prober_.train("training with gates " + name, options).step_seconds -
                            plain_.step_seconds);
    } else {
      options["prune_schedule"] = name_of(OneShot());
      options["prune_from"] = Prober::steps;
      choice.seconds = std::max(
          0.0, prober_.train("a choice of heads by " + name, options).seconds - plain_.seconds);
    }
    return all_.emplace_back(choice);
  }
  std::vector<StudyEstimate::Choice> all() && { return std::move(all_); }

 private:
  const Prober& prober_;
  const Probe& plain_;
  std::vector<StudyEstimate::Choice> all_;
};

/// The seconds of training, evaluations and test of a trunk or cell, by the measured times.
double seconds_of_run(const StudyJob& job, const StudyPlan& plan, const StudyEstimate& measured,
                      Index evaluate_every, bool at_cut) {
  const Index evaluations = job.steps / std::max<Index>(1, evaluate_every) + 1;
  double seconds = measured.begin_seconds + double(job.steps) * measured.step_seconds +
                   double(evaluations) * measured.evaluation_seconds;
  if (job.kind != StudyJob::Kind::cell) return seconds;
  const StudyCell& cell = plan.cells[job.index];
  const bool removes = cell.branches() && cell.control != StudyControl::none;
  seconds += measured.test_seconds * (removes && at_cut ? 2 : 1);
  if (removes && at_cut) seconds += measured.evaluation_seconds;
  return seconds;
}

}  // namespace

StudyEstimate estimate_study(const StudyDeclaration& declaration, const StudyPlan& plan,
                             const StudyOptions& options) {
  const StudyFolder folder{options.folder};
  StudyEstimate estimate{.trunks = Index(plan.trunks.size()), .cells = Index(plan.cells.size())};
  const Prober prober(declaration, plan, options);
  const Probe plain = prober.train("training steps", {});
  estimate.step_seconds = plain.step_seconds;
  const Probe evaluated = prober.train("evaluations", {{"evaluate_every", Prober::steps / 2}});
  const Index more = evaluated.evaluations - plain.evaluations;
  if (more > 0) {
    estimate.evaluation_seconds = std::max(0.0, evaluated.seconds - plain.seconds) / double(more);
  }
  estimate.begin_seconds =
      std::max(0.0, plain.seconds - double(Prober::steps) * estimate.step_seconds -
                        double(plain.evaluations) * estimate.evaluation_seconds);
  if (measures(declaration, "test.")) {
    estimate.test_seconds =
        std::max(0.0, prober.train("the test set", {}, {}).seconds - plain.seconds);
  }
  if (!options.only_steps) estimate.scores_seconds = prober.score();
  const bool at_cut = measures(declaration, "cut.");
  ChoiceTimes choices(prober, plain);
  double all_seconds = 0;
  for (const StudyJob& job : jobs_of(declaration, plan)) {
    const bool done = std::filesystem::exists(result_of(job, plan, folder));
    if (job.kind == StudyJob::Kind::trunk) estimate.trunks_done += done ? 1 : 0;
    if (job.kind == StudyJob::Kind::cell) estimate.cells_done += done ? 1 : 0;
    if (done) continue;
    const bool scores = job.kind == StudyJob::Kind::scores;
    if (scores && options.only_steps) continue;
    if (!scores) estimate.steps += job.steps;
    double seconds = scores ? estimate.scores_seconds
                            : seconds_of_run(job, plan, estimate, plain.evaluate_every, at_cut);
    const bool chooses = job.kind == StudyJob::Kind::cell && !options.only_steps;
    if (chooses && !choice_of(plan.cells[job.index]).empty()) {
      const StudyCell& cell = plan.cells[job.index];
      StudyEstimate::Choice& choice = choices.of(cell, plan);
      choice.times += choices_of(cell);
      seconds +=
          double(choices_of(cell)) * choice.seconds + double(job.steps) * choice.step_seconds;
    }
    estimate.seconds[job.name] = seconds;
    all_seconds += seconds;
  }
  estimate.choices = std::move(choices).all();
  estimate.minutes = all_seconds / 60 / double(declaration.processes);
  return estimate;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
