// Checkpoint: one file with everything that a run needs to be resumed, written by its parts.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/data/task.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/io/tensor_file.hpp"
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
  /// Removes the heads that the saved model had lost, then takes its parameters. Throws FileError
  /// naming the first tensor that is missing, extra or of another shape, and when the configuration
  /// is another one or a head is gone that the saved model still had. No parameter is replaced
  /// unless all fit, but heads are removed before that is known.
  void load_state(const StateReader& from) override;

 private:
  Module* model_;
  Rounding rounding_;
};

/// The parts of a run under their names, saved and loaded in the order in which they were added:
/// the model before its optimizer.
class Checkpoint {
 public:
  /// Task and vocabularies of the run (see task_record()). Saved as metadata.
  Record about = Record::object();

  /// Adds a part; it must outlive the checkpoint. Throws UsageError for a name used twice.
  void add(const std::string& name, Stateful& part);
  /// The same for a model.
  void add(const std::string& name, Module& model);

  /// Replaces `path` atomically. Throws FileError, and NumericError naming the first tensor that
  /// has a value that is not finite: the old file stays, from which a run can be resumed.
  /// A `manifest` (manifest.hpp) that is not null is saved, too; the part `without` is left out.
  void save(const std::filesystem::path& path, const Record& manifest = Record(),
            const std::string& without = "") const;
  /// Parts of a run that its file does not have.
  enum class Absent { refuse, leave };
  /// Afterwards every part continues from the saved state. Throws FileError naming the tensor that
  /// has changed since it was saved or the part that does not fit; the run must not continue then.
  void load(const std::filesystem::path& path, Absent absent = Absent::refuse);

 private:
  struct Part {
    std::string name;
    Stateful* state;
  };
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<ModelState>> models_;
};

/// The number of values of a tensor that are NaN or infinite; 0 for integers.
Index count_not_finite(const TensorFile& file, const std::string& name);

/// Reads a checkpoint, verifies its checksums, and gives the parameters of language models and
/// their moments their present names: their stack was once called `encoder`. Throws FileError.
TensorFile read_checkpoint(const std::filesystem::path& path);

/// The heads a saved model had lost. Throws FileError.
std::vector<HeadId> read_removed(const StateReader& from);

/// The configuration of one of the models of nn/models.hpp, nullptr for any other module.
const ModelConfig* config_of(const Module& model);

/// Throws FileError naming `origin`, where the configuration was read, if its model could not have
/// left the tensors of a checkpoint: a broken file must not make us ask for memory that it does not
/// pay for. Call it before the model is built.
void check_plausible(const ModelConfig& config, const TensorFile& file, const std::string& origin);
/// The same for so many elements in all, in the file `tensors`.
void check_plausible(const ModelConfig& config, double elements, const std::string& origin,
                     const std::string& tensors);

/// A model from a checkpoint, in evaluation mode, with its task and vocabularies.
struct SavedModel {
  std::unique_ptr<Module> model;
  ModelConfig config;
  std::vector<HeadId> removed;
  Record about;
  std::string origin;  // the file, for errors
  /// By name: those of other programs, and those of vocabularies that were asked for.
  mutable std::map<std::string, std::shared_ptr<const Tokenizer>> tokenizers = {};

  /// The model as one of the three kinds. Throws UsageError when it is of another kind.
  Seq2Seq& seq2seq() const;
  LanguageModel& language_model() const;
  Classifier& classifier() const;
  /// A vocabulary that task_record() wrote: "source", "target" or "tokens". Throws FileError.
  Vocabulary vocabulary(const char* name) const;
  /// The same, or another program's tokenizer of this name, as long as this object lives.
  const Tokenizer& tokenizer(const char* name) const;
};
/// Builds the model that the part `part` of a checkpoint describes, pruned as it was; needs nothing
/// but the file. Throws FileError.
SavedModel load_model(const std::filesystem::path& path, const std::string& part = "model");

/// {"name", "kind", vocabularies, ...}: everything of a task that a trained model needs to be used.
Record task_record(const Seq2SeqTask& task);
Record task_record(const ClassificationTask& task);
Record task_record(const TextCorpus& corpus);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
