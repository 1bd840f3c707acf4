// GPT-2: embeddings of tokens and positions, a pre-norm stack under a causal mask. Its matrices are
// those of Conv1Ds, [in, out]. Radford et al. 2019; modeling_gpt2.py of Hugging Face Transformers.
#include "folders/architecture.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

const NameTable& gpt2_names(const ModelConfig&) {
  static const NameTable table{
      "transformer.",
      ForeignLayout::gpt2,
      {
          {"wte.weight", "embedding.weight"},
          {"wpe.weight", "positions.weight"},
          {"h.#.ln_1", "decoder.layers.#.norm1", NameOf::layer},
          {"h.#.attn.", "decoder.layers.#.self_attn", NameOf::attention},
          {"h.#.ln_2", "decoder.layers.#.norm2", NameOf::layer},
          {"h.#.mlp.c_fc", "decoder.layers.#.linear1", NameOf::conv1d},
          {"h.#.mlp.c_proj", "decoder.layers.#.linear2", NameOf::conv1d},
          {"ln_f", "decoder.norm", NameOf::layer},
          {"lm_head.weight", "output.weight", NameOf::parameter, false},
      },
      {{"lm_head.weight", "embedding.weight"}},
      {".attn.bias", ".attn.masked_bias"}};  // the causal mask of each layer
  return table;
}

ModelConfig gpt2_config(const ConfigReader& json, const FolderTensors&) {
  json.only("scale_attn_weights", true);
  json.only("scale_attn_by_inverse_layer_idx", false);
  json.only("reorder_and_upcast_attn", false);
  json.only("add_cross_attention", false);
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = config.target_vocabulary = json.size("vocab_size", 50257);
  config.layers = json.size("n_layer", 12);
  config.longest = json.size("n_positions", 1024);
  config.positions = PositionKind::learned;
  BlockConfig& block = config.block;
  block.width = json.size("n_embd", 768);
  block.heads = json.size("n_head", 12);
  json.check_heads(block.width, block.heads);
  block.hidden = json.size("n_inner", 4 * block.width);
  block.activation = json.activation("activation_function", "gelu_new");
  block.epsilon = json.epsilon("layer_norm_epsilon", 1e-5);
  block.dropout = json.rate("resid_pdrop", 0.1);
  block.attention_dropout = json.rate("attn_pdrop", 0.1);
  block.hidden_dropout = 0;
  config.variant.embedding_dropout = json.rate("embd_pdrop", 0.1);
  config.tied_output = json.flag("tie_word_embeddings", true);
  if (!config.tied_output) config.variant.output_bias = false;
  return config;
}

/// Without a head of its own, the logits are those of the embeddings, as Transformers ties them.
ModelConfig gpt2_base_config(const ConfigReader& json, const FolderTensors& tensors) {
  ModelConfig config = gpt2_config(json, tensors);
  config.tied_output = true;
  config.variant.output_bias.reset();
  return config;
}

}  // namespace

std::vector<Architecture> gpt2_architectures() {
  constexpr AttentionKind heads = AttentionKind::decoder_self;
  return {{"GPT2Model", "gpt2", gpt2_base_config, gpt2_names, heads, true},
          {"GPT2LMHeadModel", "gpt2", gpt2_config, gpt2_names, heads}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
