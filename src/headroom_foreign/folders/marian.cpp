// Marian: an encoder-decoder with sinusoids in halves, post-norm layers and a fixed bias of the
// logits. Junczys-Dowmunt et al. 2018; modeling_marian.py of Hugging Face Transformers.
#include <fmt/format.h>

#include <cmath>

#include "folders/architecture.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The names of the parameters, with those of the two embeddings, which may be one, and with ours
/// of the embedding that the output may be tied to.
NameTable table_with(const char* source, const char* target, const char* output) {
  return {
      "",
      ForeignLayout::bart,
      {
          {source, "source_embedding.weight"},
          {target, "target_embedding.weight"},
          {"final_logits_bias", "output.bias", NameOf::row},
          {"lm_head.weight", "output.weight"},
          {"model.encoder.layers.#.self_attn.", "encoder.layers.#.self_attn", NameOf::attention},
          {"model.encoder.layers.#.self_attn_layer_norm", "encoder.layers.#.norm1", NameOf::layer},
          {"model.encoder.layers.#.fc1", "encoder.layers.#.linear1", NameOf::layer},
          {"model.encoder.layers.#.fc2", "encoder.layers.#.linear2", NameOf::layer},
          {"model.encoder.layers.#.final_layer_norm", "encoder.layers.#.norm2", NameOf::layer},
          {"model.decoder.layers.#.self_attn.", "decoder.layers.#.self_attn", NameOf::attention},
          {"model.decoder.layers.#.self_attn_layer_norm", "decoder.layers.#.norm1", NameOf::layer},
          {"model.decoder.layers.#.encoder_attn.", "decoder.layers.#.multihead_attn",
           NameOf::attention},
          {"model.decoder.layers.#.encoder_attn_layer_norm", "decoder.layers.#.norm2",
           NameOf::layer},
          {"model.decoder.layers.#.fc1", "decoder.layers.#.linear1", NameOf::layer},
          {"model.decoder.layers.#.fc2", "decoder.layers.#.linear2", NameOf::layer},
          {"model.decoder.layers.#.final_layer_norm", "decoder.layers.#.norm3", NameOf::layer},
      },
      {{"lm_head.weight", output},
       {"model.encoder.embed_tokens.weight", output},
       {"model.decoder.embed_tokens.weight", output}},
      // Computed tables, and an embedding that two stacks with their own do not have.
      {"embed_positions.weight", "model.shared.weight"}};
}

const NameTable& marian_names(const ModelConfig& config) {
  static const NameTable shared = table_with("model.shared.weight", "model.shared.weight",
                                             "source_embedding.weight"),
                         apart = table_with("model.encoder.embed_tokens.weight",
                                            "model.decoder.embed_tokens.weight",
                                            "target_embedding.weight");
  return config.variant.shared_embedding ? shared : apart;
}

/// Throws FileError unless a table of positions in the file is the one that is computed here.
void check_positions(const ConfigReader& json, const FolderTensors& tensors,
                     const ModelConfig& config) {
  for (const char* name :
       {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}) {
    if (!tensors.has(name)) continue;
    const Shape &shape = tensors.at(name).entry->shape, needed{config.longest, config.block.width};
    if (!(shape == needed)) {  // before a table of that size is made
      json.fail("max_position_embeddings", fmt::format("needs {} for {}, which is {} in the file",
                                                       needed.text(), name, shape.text()));
    }
    Rng unused(0, "positions");
    const Positions ours(config.positions, config.longest, config.block.width, unused);
    const Array theirs = tensors.array(name);
    bool equal = true;
    for (Index i = 0; equal && i < theirs.size(); ++i) {
      equal = std::abs(theirs[i] - ours.weight.value()[i]) < Real(0.01);
    }
    if (!equal) {
      json.fail("max_position_embeddings",
                fmt::format("belongs to {} in the file, which is not the table of sinusoids that "
                            "is computed here",
                            name));
    }
  }
}

ModelConfig marian_config(const ConfigReader& json, const FolderTensors& tensors) {
  ModelConfig config;
  config.kind = ModelKind::seq2seq;
  config.source_vocabulary = json.size("vocab_size", 58101);
  config.target_vocabulary = json.size("decoder_vocab_size", config.source_vocabulary);
  config.layers = json.size("encoder_layers", 12);
  config.longest = json.size("max_position_embeddings", 1024);
  config.positions = PositionKind::sinusoidal_halves;
  config.tied_output = json.flag("tie_word_embeddings", true);
  BlockConfig& block = config.block;
  block.width = json.size("d_model", 1024);
  block.heads = json.size("encoder_attention_heads", 16);
  json.check_heads(block.width, block.heads);
  block.hidden = json.size("encoder_ffn_dim", 4096);
  block.norm_first = false;
  block.activation = json.activation("activation_function", "gelu");
  block.dropout = json.rate("dropout", 0.1);
  block.attention_dropout = json.rate("attention_dropout", 0);
  block.hidden_dropout = json.rate("activation_dropout", 0);
  ModelVariant& variant = config.variant;
  variant.decoder_layers = json.size("decoder_layers", 12);
  variant.decoder_heads = json.size("decoder_attention_heads", 16);
  json.check_heads(block.width, variant.decoder_heads);
  variant.decoder_hidden = json.size("decoder_ffn_dim", 4096);
  variant.unscaled_embedding = !json.flag("scale_embedding", false);
  variant.shared_embedding = json.flag("share_encoder_decoder_embeddings", true);
  variant.output_bias = true;
  json.only("encoder_layerdrop", 0.0);
  json.only("decoder_layerdrop", 0.0);
  variant.kept_token = json.id("pad_token_id", 58100, config.source_vocabulary);
  if (variant.shared_embedding && config.source_vocabulary != config.target_vocabulary) {
    json.fail("decoder_vocab_size", "differs from vocab_size, but the embedding is shared");
  }
  check_positions(json, tensors, config);
  return config;
}

}  // namespace

std::vector<Architecture> marian_architectures() {
  return {{"MarianMTModel", "marian", marian_config, marian_names, AttentionKind::encoder_self}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
