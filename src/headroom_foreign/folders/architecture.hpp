// The architectures that a folder may have, one file each.
#pragma once

#include <string>
#include <vector>

#include "folders/config_reader.hpp"
#include "headroom/base/head_id.hpp"
#include "headroom_foreign/folders/folder_tensors.hpp"
#include "headroom_foreign/folders/name_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An architecture of Transformers: how its configuration and its tensors are read.
struct Architecture {
  const char* name;        // "BertModel", as `architectures` of config.json has it
  const char* model_type;  // "bert"
  /// The configuration that config.json and, for parts that it does not mention, the tensors
  /// describe. Throws FileError for a model that is not computed here.
  ModelConfig (*config)(const ConfigReader& json, const FolderTensors& tensors);
  const NameTable& (*names)(const ModelConfig& config);
  AttentionKind heads;   // whose heads `pruned_heads` counts
  bool is_base = false;  // the model without a head
};

/// BertModel, BertForMaskedLM (and BertForPreTraining as one), BertForSequenceClassification.
/// Devlin et al. 2019.
std::vector<Architecture> bert_architectures();
/// GPT2Model, GPT2LMHeadModel. Radford et al. 2019.
std::vector<Architecture> gpt2_architectures();
/// MarianMTModel. Junczys-Dowmunt et al. 2018.
std::vector<Architecture> marian_architectures();

/// Returns whether a file's tensors have the prefix of the base model.
bool has_prefix(const FolderTensors& tensors, const NameTable& names);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
