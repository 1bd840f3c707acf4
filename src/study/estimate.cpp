// How long a study takes, from short runs of its trunk.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/json.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/study/run.hpp"
#include "study/jobs.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// A folder that is removed again.
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

struct Probe {
  double seconds = 0;       // of the whole run
  double step_seconds = 0;  // median
  Index evaluations = 0, evaluate_every = 0;
};

/// Trains a few steps of the first trunk. evaluate_every 0: as declared.
Probe probe(const StudyPlan& plan, const std::string& program, Index steps, Index evaluate_every) {
  const Scratch scratch;
  TrainWords options = plan.trunks.front().options;
  if (evaluate_every > 0) {
    options.erase("evaluate_every");
    options.erase("evaluate-every");
    options["evaluate_every"] = evaluate_every;
  }
  Words words{program,     "train",
              "--out",     scratch.path.string(),
              "--until",   std::to_string(steps),
              "--seed",    std::to_string(plan.trunks.front().seed),
              "--threads", "1",
              "--no-test", "--no-page"};
  for (const std::string& word : words_of(options)) words.push_back(word);
  const auto began = std::chrono::steady_clock::now();
  const ChildResult result = ChildProgram(words, "", {"OMP_NUM_THREADS=1"}).wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (result.code != 0) {
    const std::size_t error = result.err.rfind("error: ");
    throw UsageError(
        fmt::format("a trunk cannot be trained: {}",
                    error == std::string::npos ? result.err : result.err.substr(error + 7)));
  }
  Probe found{.seconds = took.count()};
  std::vector<double> times;
  std::ifstream metrics(scratch.path / "metrics.jsonl");
  for (std::string line; std::getline(metrics, line);) {
    const Record record = parse_json(line, "metrics.jsonl");
    if (record.contains("ms")) times.push_back(record["ms"].get<double>() / 1000);
    if (record.contains("validation_loss")) ++found.evaluations;
  }
  found.step_seconds = times.empty() ? 0 : median(times);
  const std::string config = (scratch.path / "config.json").string();
  found.evaluate_every =
      json_integer(parse_json(read_file(config), config)["training"], "evaluate_every", config);
  return found;
}

}  // namespace

StudyEstimate estimate_study(const StudyDeclaration& declaration, const StudyPlan& plan,
                             const StudyOptions& options) {
  const StudyFolder folder{options.folder};
  StudyEstimate estimate{.trunks = Index(plan.trunks.size()), .cells = Index(plan.cells.size())};
  const Index steps = std::min<Index>(20, declaration.trunk.until);
  const Probe plain = probe(plan, options.program, steps, 0);
  const Probe evaluated = probe(plan, options.program, steps, std::max<Index>(1, steps / 2));
  estimate.step_seconds = plain.step_seconds;
  const Index more = evaluated.evaluations - plain.evaluations;
  if (more > 0) {
    estimate.evaluation_seconds = std::max(0.0, evaluated.seconds - plain.seconds) / double(more);
  }
  estimate.begin_seconds =
      std::max(0.0, plain.seconds - double(steps) * estimate.step_seconds -
                        double(plain.evaluations) * estimate.evaluation_seconds);
  double seconds = 0;
  for (const StudyJob& job : jobs_of(declaration, plan)) {
    const bool done = std::filesystem::exists(result_of(job, plan, folder));
    if (job.kind == StudyJob::Kind::trunk) estimate.trunks_done += done ? 1 : 0;
    if (job.kind == StudyJob::Kind::cell) estimate.cells_done += done ? 1 : 0;
    if (done) continue;
    const Index evaluations = job.steps / std::max<Index>(1, plain.evaluate_every) + 1;
    estimate.steps += job.steps;
    seconds += estimate.begin_seconds + double(job.steps) * estimate.step_seconds +
               double(evaluations) * estimate.evaluation_seconds;
  }
  estimate.minutes = seconds / 60 / double(declaration.processes);
  return estimate;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
