// Checkpoint: one file with everything a run needs to go on, put together from its parts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headroom/data/task.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A model as a part of a checkpoint: its parameters, the heads that were removed and, for the
/// models of nn/models.hpp, the configuration.
class ModelState : public Stateful {
 public:
  explicit ModelState(Module& model, Rounding rounding = Rounding::refuse)
      : model_(&model), rounding_(rounding) {}
  void save_state(StateWriter to) const override;
  /// Removes the heads that the saved model had lost, then takes the parameters. Throws FileError
  /// naming the first tensor that is missing, extra or of another shape, and when the configuration
  /// is another one or a head is gone that the saved model still had. No parameter is replaced
  /// unless all fit.
  void load_state(const StateReader& from) override;

 private:
  Module* model_;
  Rounding rounding_;
};

/// The parts of a run under their names, saved and loaded in the order in which they were added:
/// the model before its optimizer.
class Checkpoint {
 public:
  /// What the run is about: task, vocabularies (see task_record()). Saved as metadata.
  Record about = Record::object();

  /// Adds a part; it must outlive the checkpoint. Throws UsageError for a name used twice.
  void add(const std::string& name, Stateful& part);
  /// The same for a model.
  void add(const std::string& name, Module& model);

  /// Replaces `path` atomically. Throws FileError.
  void save(const std::filesystem::path& path) const;
  /// Afterwards every part goes on where the saved one was. Throws FileError naming what does not
  /// fit; the run should not go on then.
  void load(const std::filesystem::path& path);

 private:
  struct Part {
    std::string name;
    Stateful* state;
  };
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<ModelState>> models_;
};

/// Remembers the best value of a measure, so that `best.safetensors` survives a resume rightly.
class BestSoFar : public Stateful {
 public:
  enum class Better { lower, higher };
  explicit BestSoFar(Better better) : better_(better) {}
  /// True when `value` is finite and better than all before; then it is remembered.
  bool improves(double value, Index step);
  double value() const { return value_; }
  Index step() const { return step_; }  // 0: none yet
  void save_state(StateWriter to) const override;
  void load_state(const StateReader& from) override;

 private:
  Better better_;
  double value_ = 0;
  Index step_ = 0;
};

/// A model from a checkpoint, in evaluation mode, with what it is about.
struct SavedModel {
  std::unique_ptr<Module> model;
  ModelConfig config;
  std::vector<HeadId> removed;
  Record about;
  std::string origin;  // the file, for errors

  /// The model as the kind that is needed. Throws UsageError when it is another.
  Seq2Seq& seq2seq() const;
  LanguageModel& language_model() const;
  Classifier& classifier() const;
  /// A vocabulary that task_record() wrote: "source", "target" or "tokens". Throws FileError.
  Vocabulary vocabulary(const char* name) const;
};
/// Builds the model that the part `part` of a checkpoint describes, pruned as it was; needs nothing
/// but the file. Throws FileError.
SavedModel load_model(const std::filesystem::path& path, const std::string& part = "model");

/// {"name", "kind", vocabularies, ...}: what a task must leave behind for a trained model to be
/// used.
Record task_record(const Seq2SeqTask& task);
Record task_record(const ClassificationTask& task);
Record task_record(const TextCorpus& corpus);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
