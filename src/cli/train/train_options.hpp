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
  /// A table of the defaults that differ between tasks, for the help text.
  static std::string recipes();

  /// What was given, by options or by --config FILE; options come first. Throws FileError for a
  /// file that cannot be read, UsageError as settings_of().
  RunSettings settings() const;
  /// What was given by options, for fit_to_model().
  const GivenSettings& given() const { return given_; }
  /// The name of a given option that determines the run, or "": a resumed run has its own settings.
  /// --data may be given: the file may have been moved.
  std::string first_given() const;
  std::optional<std::string> data() const;

 private:
  CLI::Option* add(CLI::App& app, const Setting& setting);

  GivenSettings given_;
  std::string config_;
  std::vector<CLI::Option*> added_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
