// Options of `headroom train` by which a run is a part of a study: where it ends, the run it begins
// with, and heads that it does not have.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/base/record.hpp"
#include "headroom_runs/runs/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct TrainSettings;

struct BranchSettings {
  Index until = 0;                   // the step after which the run ends; 0: the last one
  std::string from;                  // folder of the run that it begins with; empty: none
  std::vector<HeadId> without = {};  // removed before the first step
  bool test = true;                  // measures the test set
  bool page = true;                  // writes the report
  bool cut = false;                  // measures right after the last removal of heads, too

  /// Adds those that are not the default to the section "training" of config.json.
  void to_record(Record& training) const;
  /// Throws FileError naming `origin` and the key.
  static BranchSettings from_record(const Record& training, const std::string& origin);
};

/// The options of the command line.
class BranchOptions {
 public:
  std::vector<CLI::Option*> add_to(CLI::App& app);
  /// Throws UsageError for a text that names no heads. `from` is absolute.
  BranchSettings settings() const;

 private:
  std::optional<Index> until_;
  std::string from_, without_;
  bool no_test_ = false, no_page_ = false, measure_cut_ = false;
};

/// Throws UsageError if the run of `settings` cannot begin with that of settings.branch.from:
/// there is no such run, it has other settings of data, model or training, it removes heads, or it
/// ended after the removal of heads in this run begins.
void require_same_beginning(const TrainSettings& settings);

/// Begins `run`, which has all its parts, with the checkpoint of settings.branch.from, and copies
/// metrics.jsonl into the run's `folder`. A run without removal also takes over the best
/// checkpoint.
void begin_with_trunk(TrainingRun& run, const TrainSettings& settings, const RunFolder& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
