// A model folder as Hugging Face Transformers writes it: config.json and safetensors.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_foreign/folders/folder_tensors.hpp"
#include "headroom_foreign/folders/name_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The key of config.json with the heads that a folder has as zeros, in a list of texts such as
/// "encoder 0.3". It is ours; Transformers keeps it and does not read it.
inline constexpr const char* zeroed_heads_key = "headroom_removed_heads";

/// A model folder whose configuration and headers have been read and checked: BertModel,
/// BertForMaskedLM, BertForSequenceClassification, GPT2Model, GPT2LMHeadModel, MarianMTModel.
struct ModelFolder {
  std::filesystem::path path;
  Record json;               // config.json as it is
  std::string architecture;  // "BertModel"
  FolderTensors tensors;
  ModelConfig config;           // of the model with all heads
  std::vector<HeadId> removed;  // all heads that the model has lost
  std::vector<HeadId> zeroed;   // those of them that the files have, as zeros; sorted, as `removed`
  const NameTable* names = nullptr;
  bool with_prefix = false;  // the tensors' names have that of the base model
  bool base_only = false;    // a head that the file may have is not read
  bool new_head = false;     // of with_new_classifier(): its numbers are in no file

  /// The name in the files of a parameter by the table: norms of BERT once had `gamma` and `beta`.
  std::string stored_name(const std::string& name) const;

  /// The heads that the files have no numbers for, by `pruned_heads`.
  std::vector<HeadId> absent() const;

  /// Builds the model, without the heads that it has lost, in evaluation mode and in this layout.
  /// Values that are NaN or infinite are kept and warned of (on_folder_warning()). Throws
  /// FileError, also for a head in `zeroed` whose values or outputs are not 0.
  std::unique_ptr<Module> load(Layout layout = Layout::fused) const;
  /// The same with a configuration that may have other rates of dropout. A new head is drawn with
  /// this seed.
  std::unique_ptr<Module> load(const ModelConfig& wanted, std::uint64_t seed = 1) const;
  /// The same with the heads that are zeros.
  std::unique_ptr<Module> load_with_zeroed(const ModelConfig& wanted, std::uint64_t seed = 1) const;
  /// Whether a parameter of a new head has no numbers in the files.
  bool is_new(const std::string& name) const;
  /// The same with what a checkpoint of ours would say of it.
  SavedModel saved(Layout layout = Layout::fused) const;
};

/// Returns whether a path is a folder with config.json that names a model of Transformers, whether
/// or not it can be read.
bool is_model_folder(const std::filesystem::path& path);

/// Reads config.json and the headers of the tensors. `as` opens the folder as another architecture
/// of the same type than config.json names: as BertModel to read it without its head, as
/// GPT2LMHeadModel to get the logits of a GPT2Model. Everything is untrusted input. Throws
/// FileError, one line that names file, place and rule: for an architecture that is not known, a
/// configuration that is not computed here, and tensors that the configuration does not need or
/// that are missing or of another shape.
ModelFolder open_model_folder(const std::filesystem::path& path, const std::string& as = "");

/// From now on, ModelFolder::load() calls `hear` for a folder with values that are NaN or infinite:
/// once, with a line that names the first such tensor and says how many of its values and how many
/// other tensors are concerned. Without it nobody is warned, as the library prints nothing. Call it
/// before threads load models.
void on_folder_warning(std::function<void(const std::string& line)> hear);

/// The folder of a BERT as that of a classifier whose head is new: config.json names the classes,
/// and load() draws the head's numbers, and the pooler's if the file has none, from N(0, 0.02^2),
/// with biases of 0. Throws UsageError for another model and for fewer than two classes.
ModelFolder with_new_classifier(ModelFolder folder, const std::vector<std::string>& classes);

/// The names of an architecture's parameters. Throws UsageError for an unknown one.
const NameTable& names_of_architecture(const std::string& architecture, const ModelConfig& config);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
