// TrainingSettings: everything that determines a training run, as config.json keeps it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/data/task.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/make_optimizer.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/train/learner.hpp"
#include "headroom_runs/runs/folds.hpp"
#include "headroom_runs/runs/model_parts.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Two runs with equal settings and parts (see StepPart) give the same model, to the bit.
struct TrainingSettings {
  std::string task = "dates";
  std::filesystem::path folder;  // model folder of Transformers that it begins with, or ""
  TaskOptions data;
  TableOptions table;  // of the tasks pairs and labels
  Fold fold;           // of the examples for training and test
  Record vocabulary;   // vocabulary_of() the model that it begins with; null: that of the data
  ModelConfig model;
  LearnerOptions learner;
  RateOptions rate;
  std::string rate_function;  // text of the function that replaces it; TrainingRun::set_rate()
  Index steps = 0;
  double clip = 1;  // limit of the gradient's norm; 0: no clipping
  OptimizerChoice optimizer;
  PartRules parts = {};               // parts of the model that are trained otherwise
  Index evaluate_every = 0;           // steps between evaluations; 0: none
  Index patience = 0;                 // evaluations without improvement that end it; 0: no limit
  Index save_every = 0;               // steps between checkpoints; 0: only at the end
  Index telemetry = 10;               // steps between measurements of every head; 0: none
  std::vector<Index> snapshots = {};  // steps after which a copy of the checkpoint is kept

  /// Sets what follows from other fields: the learner's seed (the data's), the length of the
  /// learning rate's schedule (steps), the length of the data's windows (the learner's).
  void derive();

  /// The files of the task's data; none for a task that makes its examples.
  std::vector<std::filesystem::path> data_files() const;

  /// The task with its data, divided as the fold says. Throws as make_task(),
  /// make_table_task(), hold_out() and, if there is a vocabulary, in_vocabulary(); UsageError with
  /// a folder, whose examples are of learner_of_folder().
  Task make_task() const;

  /// The model's configuration for the task: fitted_to() it, but that of the settings if the run
  /// begins with another model. Throws DataError if a sequence is longer than that model reads.
  ModelConfig config_for(const Task& task) const;

  /// {"task": {...}, "model": {...}, "training": {...}}; see ModelConfig for the model.
  Record to_record() const;
  /// Throws FileError naming `origin` and the key that is missing, of another type or out of range.
  /// Other keys are ignored: a program may add its own.
  static TrainingSettings from_record(const Record& record, const std::string& origin);
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
