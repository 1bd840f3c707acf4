// Model folders of a few kilobytes, as Transformers would write them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "headroom/base/record_json.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "support/temporary_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// All that are read.
inline constexpr const char* architectures[] = {
    "BertModel", "BertForMaskedLM", "BertForSequenceClassification",
    "GPT2Model", "GPT2LMHeadModel", "MarianMTModel"};

/// A folder's two files before they are written.
struct SmallFolder {
  Record json;
  TensorFile tensors;

  /// Replaces a tensor, or adds one.
  void put(const std::string& name, const Array& values) {
    erase(name);
    tensors.put(name, values);
  }
  /// Leaves a tensor out.
  void erase(const std::string& name) {
    TensorFile others;
    for (const std::string& each : tensors.names()) {
      if (each != name) others.put(each, tensors.tensor(each));
    }
    tensors = others;
  }

  /// Stores all tensors in another floating type.
  void convert(StoredType type) {
    TensorFile others;
    for (const std::string& name : tensors.names()) {
      const Array array = tensors.array(name);
      StoredTensor tensor{type, array.shape(),
                          std::vector<std::byte>(std::size_t(array.size() * size_of(type)))};
      write_numbers(type, array.span(), tensor.bytes);
      others.put(name, tensor);
    }
    tensors = others;
  }

  /// Writes them; returns the folder.
  std::filesystem::path write(const TemporaryFolder& to) const {
    to.file("config.json", json.dump(2));
    tensors.write(to / "model.safetensors");
    return to.path();
  }
};

/// The configuration of a model of that architecture: 2 layers of 4 heads over 8 channels, so many
/// tokens. The source of what ModelConfig must say, written by hand.
inline ModelConfig small_config(const std::string& architecture, Index tokens = 11) {
  ModelConfig config;
  config.layers = 2;
  config.source_vocabulary = config.target_vocabulary = tokens;
  config.longest = 7;
  config.tied_output = true;
  config.block.width = 8;
  config.block.heads = 4;
  config.block.hidden = 12;
  if (architecture.starts_with("GPT2")) {
    config.kind = ModelKind::language_model;
    config.positions = PositionKind::learned;
    return config;
  }
  config.block.norm_first = false;
  if (architecture == "MarianMTModel") {
    config.positions = PositionKind::sinusoidal_halves;
    config.variant.decoder_layers = 1;
    config.variant.decoder_heads = 2;
    config.variant.decoder_hidden = 10;
    config.variant.shared_embedding = config.variant.output_bias.emplace(true);
    return config;
  }
  config.positions = PositionKind::learned;
  config.variant.token_types = 2;
  config.variant.embedding_norm = true;
  config.kind = ModelKind::encoder;
  if (architecture != "BertForMaskedLM") config.variant.pooling = Pooling::first;
  if (architecture == "BertForMaskedLM") {
    config.kind = ModelKind::masked_language_model;
    config.variant.output_bias = true;
  } else if (architecture == "BertForSequenceClassification") {
    config.kind = ModelKind::classifier;
    config.target_vocabulary = 3;
  }
  return config;
}

/// config.json of the same.
inline Record small_json(const std::string& architecture, Index tokens = 11) {
  Record json{{"architectures", {architecture}}, {"vocab_size", tokens}};
  if (architecture.starts_with("GPT2")) {
    json.update({{"model_type", "gpt2"},
                 {"n_positions", 7},
                 {"n_embd", 8},
                 {"n_layer", 2},
                 {"n_head", 4},
                 {"n_inner", 12},
                 {"activation_function", "relu"}});
  } else if (architecture == "MarianMTModel") {
    json.update({{"model_type", "marian"},
                 {"max_position_embeddings", 7},
                 {"d_model", 8},
                 {"encoder_layers", 2},
                 {"encoder_attention_heads", 4},
                 {"encoder_ffn_dim", 12},
                 {"decoder_layers", 1},
                 {"decoder_attention_heads", 2},
                 {"decoder_ffn_dim", 10},
                 {"pad_token_id", 10},
                 {"scale_embedding", true},
                 {"activation_function", "relu"}});
  } else {
    json.update({{"model_type", "bert"},
                 {"max_position_embeddings", 7},
                 {"hidden_size", 8},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 4},
                 {"intermediate_size", 12},
                 {"hidden_act", "relu"}});
  }
  return json;
}

/// A folder with random numbers.
inline SmallFolder small_folder(const std::string& architecture, Index tokens = 11) {
  Rng rng(5, "init");
  const ModelConfig config = small_config(architecture, tokens);
  const std::unique_ptr<Module> model = make_model(config, rng);
  SmallFolder folder{small_json(architecture, tokens), {}};
  const bool is_base = architecture == "BertModel" || architecture == "GPT2Model";
  for (const auto& [name, array] :
       in_foreign_names(*model, names_of_architecture(architecture, config), !is_base)) {
    folder.tensors.put(name, array);
  }
  return folder;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
