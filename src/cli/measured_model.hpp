// The model whose heads `importance` and `prune` measure: one of a run, or one of a folder with
// data of one's own.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "headroom/base/record_json.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// `--model` and, for model folders of Transformers, the data and what is measured.
struct MeasuredOptions {
  std::string model, data, task, columns;
  Index length = 0;  // 0: the usual one

  /// Whether one of the options is given that only model folders have.
  bool has_data() const { return !data.empty() || !task.empty() || !columns.empty() || length > 0; }
};

/// Adds these options.
void add_measured(CLI::App& command, MeasuredOptions& options);

/// A model with examples to measure it on.
struct MeasuredModel {
  std::filesystem::path path;  // of the run, or of the model folder
  std::unique_ptr<Learner> learner;
  Record config;  // of the run; of a folder, that of a run that would begin with it
  bool is_folder = false;
};

/// Opens the model, and says on stderr what the data are. Throws UsageError for a folder without
/// data and for a run with them; what load_learner() and learner_of_folder() throw.
MeasuredModel measured_model(const MeasuredOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
