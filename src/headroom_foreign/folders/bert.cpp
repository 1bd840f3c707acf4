// BERT: embeddings of tokens, positions and token types with a norm, a post-norm encoder, and a
// head. Devlin et al. 2019; modeling_bert.py of Hugging Face Transformers.
#include <fmt/format.h>

#include <string>

#include "folders/architecture.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The names of the base model, those of a head, and second names.
NameTable table_with(const std::vector<NameRow>& head, const std::vector<SecondName>& second) {
  NameTable table{
      "bert.",
      ForeignLayout::bert,
      {
          {"embeddings.word_embeddings.weight", "embedding.weight"},
          {"embeddings.token_type_embeddings.weight", "token_types.weight"},
          {"embeddings.position_embeddings.weight", "positions.weight"},
          {"embeddings.LayerNorm", "embedding_norm", NameOf::layer},
          {"encoder.layer.#.attention.", "encoder.layers.#.self_attn", NameOf::attention},
          {"encoder.layer.#.attention.output.LayerNorm", "encoder.layers.#.norm1", NameOf::layer},
          {"encoder.layer.#.intermediate.dense", "encoder.layers.#.linear1", NameOf::layer},
          {"encoder.layer.#.output.dense", "encoder.layers.#.linear2", NameOf::layer},
          {"encoder.layer.#.output.LayerNorm", "encoder.layers.#.norm2", NameOf::layer},
          {"pooler.dense", "pooler", NameOf::layer},
      },
      second,
      // A buffer, the second head of the pre-training, and a pooler that no output needs.
      {"embeddings.position_ids", "cls.seq_relationship.", "pooler."}};
  table.rows.insert(table.rows.end(), head.begin(), head.end());
  return table;
}

const NameTable& bert_names(const ModelConfig& config) {
  // A file of a masked language model may be read without its head.
  const SecondName decoder{"cls.predictions.decoder.weight", "embedding.weight"},
      bias{"cls.predictions.decoder.bias", "output.bias"};
  static const NameTable
      base = table_with({}, {decoder}),
      classifier = table_with({{"classifier", "output", NameOf::layer, false}}, {}),
      masked = table_with(
          {
              {"cls.predictions.transform.dense", "transform", NameOf::layer, false},
              {"cls.predictions.transform.LayerNorm", "transform_norm", NameOf::layer, false},
              {"cls.predictions.decoder.weight", "output.weight", NameOf::parameter, false},
              {"cls.predictions.bias", "output.bias", NameOf::parameter, false},
          },
          {decoder, bias});
  switch (config.kind) {
    case ModelKind::classifier: return classifier;
    case ModelKind::masked_language_model: return masked;
    default: return base;
  }
}

ModelConfig bert_config(const ConfigReader& json, const FolderTensors& tensors) {
  json.only("position_embedding_type", "absolute");
  json.only("is_decoder", false);
  json.only("add_cross_attention", false);
  ModelConfig config;
  config.kind = ModelKind::encoder;
  config.source_vocabulary = config.target_vocabulary = json.size("vocab_size", 30522);
  config.layers = json.size("num_hidden_layers", 12);
  config.longest = json.size("max_position_embeddings", 512);
  config.positions = PositionKind::learned;
  BlockConfig& block = config.block;
  block.width = json.size("hidden_size", 768);
  block.heads = json.size("num_attention_heads", 12);
  json.check_heads(block.width, block.heads);
  block.hidden = json.size("intermediate_size", 3072);
  block.norm_first = false;
  block.activation = json.activation("hidden_act", "gelu");
  block.epsilon = json.epsilon("layer_norm_eps", 1e-12);
  block.dropout = json.rate("hidden_dropout_prob", 0.1);
  block.attention_dropout = json.rate("attention_probs_dropout_prob", 0.1);
  block.hidden_dropout = 0;
  config.variant.token_types = json.size("type_vocab_size", 2);
  config.variant.embedding_norm = true;
  config.variant.kept_token = json.id("pad_token_id", 0, config.source_vocabulary);
  const std::string pooler = "pooler.dense.weight";
  if (tensors.has(pooler) || tensors.has("bert." + pooler)) {
    config.variant.pooling = Pooling::first;
  }
  return config;
}

ModelConfig masked_config(const ConfigReader& json, const FolderTensors& tensors) {
  ModelConfig config = bert_config(json, tensors);
  config.kind = ModelKind::masked_language_model;
  config.variant.pooling = Pooling::mean;  // a pooler in the file has no part in the scores
  config.tied_output = json.flag("tie_word_embeddings", true);
  config.variant.output_bias = true;
  return config;
}

ModelConfig classifier_config(const ConfigReader& json, const FolderTensors& tensors) {
  ModelConfig config = bert_config(json, tensors);
  config.kind = ModelKind::classifier;
  config.variant.pooling = Pooling::first;
  config.variant.output_dropout = json.rate("classifier_dropout", double(config.block.dropout));
  const Shape& classes = tensors.at("classifier.weight").entry->shape;
  if (classes.rank() != 2 || classes[0] < 1) {
    throw FileError(fmt::format("{}: tensor \"classifier.weight\": is {}, not a row for each class",
                                tensors.origin(), classes.text()));
  }
  config.target_vocabulary = classes[0];
  const std::string problem = json.text("problem_type", "regression");
  if (problem != "regression") json.only("problem_type", "single_label_classification");
  return config;
}

}  // namespace

std::vector<Architecture> bert_architectures() {
  constexpr AttentionKind heads = AttentionKind::encoder_self;
  return {{"BertModel", "bert", bert_config, bert_names, heads, true},
          {"BertForMaskedLM", "bert", masked_config, bert_names, heads},
          {"BertForPreTraining", "bert", masked_config, bert_names, heads},
          {"BertForSequenceClassification", "bert", classifier_config, bert_names, heads}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
