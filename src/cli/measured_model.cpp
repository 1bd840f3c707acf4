// The model whose heads are measured.
#include "cli/measured_model.hpp"

#include <fmt/format.h>

#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/require.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_runs/runs/folder_run.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void add_measured(CLI::App& command, MeasuredOptions& options) {
  command
      .add_option("--model", options.model,
                  "folder of a run, or a model folder of Transformers (default: the newest run in "
                  "runs/, or a sample)")
      ->type_name("DIR");
  command
      .add_option("--data", options.data,
                  "of a model folder: the examples, a text or a table (.tsv, .csv, .jsonl)")
      ->type_name("FILE");
  command
      .add_option("--task", options.task,
                  "of a model folder: what its loss is: " + names_of<FolderObjective>() +
                      " (default: what the model was trained for, or keep)")
      ->type_name("NAME");
  command
      .add_option("--columns", options.columns,
                  "of a model folder: columns of the table, by names or numbers")
      ->type_name("A,B");
  command
      .add_option("--length", options.length,
                  "of a model folder: tokens of a text at most (default: 128)")
      ->check(at_least(1));
}

MeasuredModel measured_model(const MeasuredOptions& options) {
  MeasuredModel made;
  made.path = any_model_folder(options.model);
  made.is_folder = is_model_folder(made.path);
  if (!made.is_folder) {
    require(!options.has_data(),
            "--data, --task, --columns and --length are for model folders of Transformers; a run "
            "has its own");
    made.learner = load_learner(made.path);
    made.config = RunFolder(folder_of(made.path), IfExists::resume).read_config();
    return made;
  }
  require(!options.data.empty(),
          fmt::format("--model {}: a model folder of Transformers has no examples; name a file "
                      "with --data",
                      made.path.string()));
  RunSettings settings = usual_folder_settings(made.path, options.task);
  TrainingSettings& run = settings.training;
  run.data.data = std::filesystem::absolute(options.data).lexically_normal();
  run.table.columns = options.columns;
  if (options.length > 0) run.learner.length = options.length;
  run.table.shares = shares_to_measure;
  FolderLearner measured = learner_of_folder(run);
  print_error("{}", measured.data);
  made.learner = std::move(measured.learner);
  made.config = settings.to_record();
  return made;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
