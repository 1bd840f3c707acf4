// The options of `headroom train`, completed by the task's recipe, and config.json.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/train/prune_options.hpp"
#include "cli/train/train_branch.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Everything that determines a run of `headroom train`, as config.json keeps it.
struct TrainSettings {
  TrainingSettings run;
  PruningRecipe pruning;
  BranchSettings branch;

  Record to_record() const;
  /// Throws FileError naming `origin` and the key.
  static TrainSettings from_record(const Record& record, const std::string& origin);
};

/// The options of the command line; the task's recipe has the values of those that are not given.
class TrainOptions {
 public:
  void add_to(CLI::App& app);
  /// A table of the defaults that differ between tasks, for the help text. Call it after add_to().
  std::string recipes() const;
  /// The task's recipe with the options that were given. Throws UsageError for sizes that do not
  /// fit together. The pruning is not yet fitted_to() a model.
  TrainSettings settings() const;
  /// The name of a given option that determines the run, or "": a resumed run has its own settings.
  /// --data may be given: the file may have been moved.
  std::string first_given() const;
  const std::optional<std::string>& data() const { return data_; }
  /// The number of heads to keep, for fitted_to().
  std::optional<Index> keep() const { return prune_.keep(); }

 private:
  /// Adds an option. `key` is the setting's key in config.json; help then shows its default.
  template <class T>
  CLI::Option* add(CLI::App& app, const std::string& name, std::optional<T>& value,
                   const std::string& help, const std::string& key = "");
  CLI::Option* add_name(CLI::App& app, const std::string& name, std::optional<std::string>& value,
                        const std::string& help, const std::string& key = "");

  std::optional<std::string> task_, data_, layout_, activation_, schedule_, positions_, norm_,
      optimizer_, granularity_, fold_;
  std::optional<Index> seed_, steps_, width_, heads_, head_dim_, hidden_, layers_, batch_, length_,
      warmup_, evaluate_every_, save_every_, telemetry_, validation_, init_, schedule_steps_;
  std::vector<Index> snapshots_;
  std::optional<double> rate_, dropout_, label_smoothing_, clip_, weight_decay_, beta2_;
  BranchOptions branch_;
  bool post_norm_ = false, skip_bad_lines_ = false, stress_ = false;
  PruneOptions prune_;
  std::vector<CLI::Option*> added_;
  std::map<std::string, std::string> option_of_key_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
