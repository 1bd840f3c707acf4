// The options of `headroom train` that set a run: one for each of all_settings().
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "headroom_runs/runs/setting.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class TrainOptions {
 public:
  /// The object must live as long as the command.
  void add_to(CLI::App& app);
  /// The names, without --, of the options that matter most.
  static std::vector<std::string> first_names();
  /// A table of the defaults that differ between tasks, for the help text.
  static std::string recipes();

  /// The settings that the options and --config FILE make. Throws FileError for a file that cannot
  /// be read or is wrong, UsageError as settings_of().
  RunSettings settings() const;
  /// Whether a setting is given, by an option or in --config.
  bool has(const std::string& name) const { return all_given().contains(name); }
  /// Gives the number of steps that so many examples need for --epochs, and says it on stderr.
  /// Throws UsageError with --steps, and for windows that are drawn at random.
  void give_steps_of_epochs(const TrainingSettings& settings, std::optional<Index> examples);
  /// Completes them, as fit_to_model().
  void fit(RunSettings& settings) const;
  /// The name of a given option that determines the run, or "": a resumed run has its own settings.
  /// The files of data may be given: they may have been moved.
  std::string first_given() const;
  /// The value of "data", "validation_data" or "test_data", if it was given.
  std::optional<std::string> path(const char* name) const;

 private:
  CLI::Option* add(CLI::App& app, const Setting& setting);
  /// The settings of the file, if it is the config.json of a run.
  std::optional<RunSettings> base(const GivenSettings& given) const;
  /// The values of the options, and those of the file that no option sets, if it has values.
  GivenSettings all_given() const;

  GivenSettings given_;
  std::string config_;
  std::vector<CLI::Option*> added_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
