// Whole models.
#include "headroom/nn/models.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Returns true if embeddings are multiplied by sqrt(C) (Vaswani et al. 2017, section 3.4):
/// sinusoids have amplitude 1, embeddings are drawn with deviation 1/sqrt(C). Learned positions are
/// initialised as small as the embeddings, as in GPT-2, so nothing is scaled.
bool scaled(const ModelConfig& config) {
  const bool sinusoids = config.positions == PositionKind::sinusoidal ||
                         config.positions == PositionKind::sinusoidal_halves;
  return sinusoids && !config.variant.unscaled_embedding;
}

Real embedding_deviation(const ModelConfig& config) {
  return scaled(config) ? 1 / std::sqrt(Real(config.block.width)) : Real(0.02);
}

Real embedding_dropout(const ModelConfig& config) {
  return config.variant.embedding_dropout.value_or(config.block.dropout);
}

/// The configuration of a decoder's layers.
BlockConfig decoder_block(const ModelConfig& config) {
  BlockConfig block = config.block;
  if (config.variant.decoder_heads > 0) block.heads = config.variant.decoder_heads;
  if (config.variant.decoder_hidden > 0) block.hidden = config.variant.decoder_hidden;
  return block;
}

/// Embeddings of tokens, [..., C].
Tensor rows_of(const ModelConfig& config, const Embedding& table, const Ids& ids) {
  const Tensor x = table(ids);
  return scaled(config) ? x * std::sqrt(Real(config.block.width)) : x;
}

Tensor embedded(const ModelConfig& config, const Embedding& table, const Positions& positions,
                const Dropout& dropout, const Ids& ids, Index first) {
  return dropout(positions(rows_of(config, table, ids), first));
}

std::unique_ptr<Linear> output_layer(const ModelConfig& config, Index tokens, Rng& rng) {
  if (config.tied_output) return nullptr;
  return std::make_unique<Linear>(config.block.width, tokens, rng,
                                  config.variant.output_bias.value_or(config.block.bias));
}

Tensor bias_of_tied(const ModelConfig& config, Index tokens) {
  if (!config.tied_output || !config.variant.output_bias.value_or(false)) return {};
  return parameter(zeros({tokens}));
}

Tensor logits(const std::unique_ptr<Linear>& output, const Embedding& table, const Tensor& x,
              const Tensor& bias = {}) {
  return output ? (*output)(x) : linear(x, table.weight, bias);
}

/// Visits the output layer, or what a tied one consists of.
void visit_output(Members& visit, const std::unique_ptr<Linear>& output, Embedding& table,
                  Tensor bias = {}) {
  if (output) {
    visit("output", *output);
  } else {
    visit("output.weight", table.weight);
    visit("output.bias", bias);
  }
}

const ModelConfig& checked(const ModelConfig& config) {
  const bool has_target = config.kind == ModelKind::seq2seq || config.kind == ModelKind::classifier;
  if (config.source_vocabulary < 1 || (has_target && config.target_vocabulary < 1)) {
    throw UsageError(fmt::format("model: {} source and {} target tokens; at least 1 is needed",
                                 config.source_vocabulary, config.target_vocabulary));
  }
  return config;
}

}  // namespace

// ---------------------------------------------------------------- encoder-decoder

Seq2Seq::Seq2Seq(const ModelConfig& c, Rng& rng)
    : config(checked(c)),
      source_embedding(c.source_vocabulary, c.block.width, rng, embedding_deviation(c)),
      target_embedding(c.target_vocabulary, c.block.width, rng, embedding_deviation(c)),
      source_positions(c.positions, c.longest, c.block.width, rng),
      target_positions(c.positions, c.longest, c.block.width, rng),
      dropout(embedding_dropout(c)),
      encoder(c.block, c.layers, c.block.norm_first, rng),
      decoder(decoder_block(c), c.variant.decoder_layers > 0 ? c.variant.decoder_layers : c.layers,
              c.block.norm_first, rng),
      output(output_layer(c, c.target_vocabulary, rng)),
      output_bias(bias_of_tied(c, c.target_vocabulary)) {
  for (Embedding* table : {&source_embedding, &target_embedding}) {
    if (c.variant.kept_token) table->keep_row(*c.variant.kept_token);
  }
  if (c.variant.shared_embedding) target_embedding.weight = source_embedding.weight;
  if (c.variant.output_bias.value_or(false)) {
    (output ? output->bias : output_bias).set_requires_grad(false);
  }
  name_streams();
}

Tensor Seq2Seq::operator()(const Ids& source, const Ids& source_lengths, const Ids& target,
                           HeadProbe* probe) const {
  const Tensor memory = encode(embed_source(source), source_lengths, probe);
  return decode(embed_target(target), memory, source_lengths, probe);
}

Tensor Seq2Seq::embed_source(const Ids& source) const {
  return embedded(config, source_embedding, source_positions, dropout, source, 0);
}

Tensor Seq2Seq::embed_target(const Ids& target, Index first) const {
  return embedded(config, target_embedding, target_positions, dropout, target, first);
}

Tensor Seq2Seq::encode(const Tensor& x, const AttentionMask& mask, HeadProbe* probe) const {
  check_gates(*this, probe);
  return encoder(x, mask, probe);
}

Tensor Seq2Seq::decode(const Tensor& x, const Tensor& memory, const AttentionMask& memory_mask,
                       HeadProbe* probe, std::vector<DecoderLayerCache>* caches) const {
  check_gates(*this, probe);
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().self.length;
  const Tensor y = decoder(x, memory, AttentionMask::causal(before), memory_mask, probe, caches);
  return logits(output, target_embedding, y, output_bias);
}

void Seq2Seq::members(Members& visit) {
  visit("source_embedding", source_embedding);
  visit("target_embedding", target_embedding);
  visit("source_positions", source_positions);
  visit("target_positions", target_positions);
  visit("dropout", dropout);
  visit("encoder", encoder);
  visit("decoder", decoder);
  visit_output(visit, output, target_embedding, output_bias);
}

std::string Seq2Seq::title() const {
  return fmt::format("Seq2Seq({} -> {} tokens)", config.source_vocabulary,
                     config.target_vocabulary);
}

// ---------------------------------------------------------------- language model

LanguageModel::LanguageModel(const ModelConfig& c, Rng& rng)
    : config(checked(c)),
      embedding(c.source_vocabulary, c.block.width, rng, embedding_deviation(c)),
      positions(c.positions, c.longest, c.block.width, rng),
      dropout(embedding_dropout(c)),
      decoder(c.block, c.layers, c.block.norm_first, rng, AttentionKind::decoder_self),
      output(output_layer(c, c.source_vocabulary, rng)) {
  name_streams();
}

Tensor LanguageModel::operator()(const Ids& ids, HeadProbe* probe,
                                 std::vector<KeyValueCache>* caches,
                                 const AttentionMask& keys) const {
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().length;
  return predict(embed(ids, before), probe, caches, keys);
}

Tensor LanguageModel::embed(const Ids& ids, Index first) const {
  return embedded(config, embedding, positions, dropout, ids, first);
}

Tensor LanguageModel::predict(const Tensor& x, HeadProbe* probe, std::vector<KeyValueCache>* caches,
                              const AttentionMask& keys) const {
  check_gates(*this, probe);
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().length;
  const Tensor y = decoder(x, AttentionMask::causal(before) & keys, probe, caches);
  return logits(output, embedding, y);
}

void LanguageModel::members(Members& visit) {
  visit("embedding", embedding);
  visit("positions", positions);
  visit("dropout", dropout);
  visit("decoder", decoder);
  visit_output(visit, output, embedding);
}

std::string LanguageModel::title() const {
  return fmt::format("LanguageModel({} tokens)", config.source_vocabulary);
}

// ---------------------------------------------------------------- an encoder alone

TextEncoder::TextEncoder(const ModelConfig& c, Rng& rng)
    : config(checked(c)),
      embedding(c.source_vocabulary, c.block.width, rng, embedding_deviation(c)),
      token_types(c.variant.token_types == 0
                      ? nullptr
                      : std::make_unique<Embedding>(c.variant.token_types, c.block.width, rng)),
      positions(c.positions, c.longest, c.block.width, rng),
      embedding_norm(!c.variant.embedding_norm
                         ? nullptr
                         : std::make_unique<Norm>(c.block.width, c.block.norm, c.block.epsilon)),
      dropout(embedding_dropout(c)),
      encoder(c.block, c.layers, c.block.norm_first, rng),
      pooler(c.variant.pooling == Pooling::mean
                 ? nullptr
                 : std::make_unique<Linear>(c.block.width, c.block.width, rng, c.block.bias)) {
  if (c.variant.kept_token) embedding.keep_row(*c.variant.kept_token);
  name_streams();
}

Tensor TextEncoder::operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe) const {
  return encode(embed(ids), AttentionMask::lengths(lengths), probe);
}

Tensor TextEncoder::embed(const Ids& ids, const Ids& types) const {
  if (types.defined() && !token_types) throw UsageError("the model has no token types");
  Tensor x = rows_of(config, embedding, ids);
  if (token_types) x = x + (*token_types)(types.defined() ? types : Ids(ids.shape(), 0));
  x = positions(x);
  if (embedding_norm) x = (*embedding_norm)(x);
  return dropout(x);
}

Tensor TextEncoder::encode(const Tensor& x, const AttentionMask& mask, HeadProbe* probe) const {
  check_gates(*this, probe);
  return encoder(x, mask, probe);
}

Tensor TextEncoder::pooled(const Tensor& hidden, const Ids& lengths) const {
  const Index batch = hidden.dim(0), time = hidden.dim(1), width = hidden.dim(2);
  if (pooler) return tanh((*pooler)(reshape(slice(hidden, 1, 0, 1), {batch, width})));
  // Mean over the positions without padding: weights 1/length there, 0 on padding.
  Array weights = zeros({batch, time, 1});
  for (Index b = 0; b < batch; ++b) {
    for (Index t = 0; t < lengths[b]; ++t) weights[b * time + t] = 1 / Real(lengths[b]);
  }
  return sum(hidden * constant(weights), {1});
}

void TextEncoder::members(Members& visit) {
  visit("embedding", embedding);
  if (token_types) visit("token_types", *token_types);
  visit("positions", positions);
  if (embedding_norm) visit("embedding_norm", *embedding_norm);
  visit("dropout", dropout);
  visit("encoder", encoder);
  if (pooler) visit("pooler", *pooler);
}

std::string TextEncoder::title() const {
  return fmt::format("TextEncoder({} tokens)", config.source_vocabulary);
}

Classifier::Classifier(const ModelConfig& c, Rng& rng)
    : TextEncoder(c, rng),
      output_dropout(c.variant.output_dropout.value_or(Real(0))),
      output(c.block.width, c.target_vocabulary, rng, c.block.bias) {
  name_streams();
}

Tensor Classifier::operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe) const {
  return classify(TextEncoder::operator()(ids, lengths, probe), lengths);
}

Tensor Classifier::classify(const Tensor& hidden, const Ids& lengths) const {
  return output(output_dropout(pooled(hidden, lengths)));
}

void Classifier::members(Members& visit) {
  TextEncoder::members(visit);
  visit("output_dropout", output_dropout);
  visit("output", output);
}

std::string Classifier::title() const {
  return fmt::format("Classifier({} tokens -> {} classes)", config.source_vocabulary,
                     config.target_vocabulary);
}

MaskedLanguageModel::MaskedLanguageModel(const ModelConfig& c, Rng& rng)
    : TextEncoder(c, rng),
      transform(c.block.width, c.block.width, rng, c.block.bias),
      transform_norm(c.block.width, c.block.norm, c.block.epsilon),
      output(output_layer(c, c.source_vocabulary, rng)),
      output_bias(bias_of_tied(c, c.source_vocabulary)) {
  name_streams();
}

Tensor MaskedLanguageModel::operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe) const {
  return predict(TextEncoder::operator()(ids, lengths, probe));
}

Tensor MaskedLanguageModel::predict(const Tensor& hidden) const {
  const Tensor x = transform_norm(activate(config.block.activation, transform(hidden)));
  return logits(output, embedding, x, output_bias);
}

void MaskedLanguageModel::members(Members& visit) {
  TextEncoder::members(visit);
  visit("transform", transform);
  visit("transform_norm", transform_norm);
  visit_output(visit, output, embedding, output_bias);
}

std::string MaskedLanguageModel::title() const {
  return fmt::format("MaskedLanguageModel({} tokens)", config.source_vocabulary);
}

std::unique_ptr<Module> make_model(const ModelConfig& config, Rng& rng,
                                   std::span<const HeadId> removed) {
  std::unique_ptr<Module> model;
  switch (config.kind) {
    case ModelKind::seq2seq: model = std::make_unique<Seq2Seq>(config, rng); break;
    case ModelKind::language_model: model = std::make_unique<LanguageModel>(config, rng); break;
    case ModelKind::classifier: model = std::make_unique<Classifier>(config, rng); break;
    case ModelKind::encoder: model = std::make_unique<TextEncoder>(config, rng); break;
    case ModelKind::masked_language_model:
      model = std::make_unique<MaskedLanguageModel>(config, rng);
      break;
  }
  prune(*model, removed);
  return model;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
