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
bool scaled(const ModelConfig& config) { return config.positions == PositionKind::sinusoidal; }

Real embedding_deviation(const ModelConfig& config) {
  return scaled(config) ? 1 / std::sqrt(Real(config.block.width)) : Real(0.02);
}

Tensor embedded(const ModelConfig& config, const Embedding& table, const Positions& positions,
                const Dropout& dropout, const Ids& ids, Index first) {
  Tensor x = table(ids);
  if (scaled(config)) x = x * std::sqrt(Real(config.block.width));
  return dropout(positions(x, first));
}

std::unique_ptr<Linear> output_layer(const ModelConfig& config, Index tokens, Rng& rng) {
  if (config.tied_output) return nullptr;
  return std::make_unique<Linear>(config.block.width, tokens, rng, config.block.bias);
}

Tensor logits(const std::unique_ptr<Linear>& output, const Embedding& table, const Tensor& x) {
  return output ? (*output)(x) : linear(x, table.weight);
}

const ModelConfig& checked(const ModelConfig& config) {
  if (config.source_vocabulary < 1 ||
      (config.kind != ModelKind::language_model && config.target_vocabulary < 1)) {
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
      dropout(c.block.dropout),
      encoder(c.block, c.layers, c.block.norm_first, rng),
      decoder(c.block, c.layers, c.block.norm_first, rng),
      output(output_layer(c, c.target_vocabulary, rng)) {
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

Tensor Seq2Seq::encode(const Tensor& x, const Ids& source_lengths, HeadProbe* probe) const {
  check_gates(*this, probe);
  return encoder(x, AttentionMask::lengths(source_lengths), probe);
}

Tensor Seq2Seq::decode(const Tensor& x, const Tensor& memory, const Ids& source_lengths,
                       HeadProbe* probe, std::vector<DecoderLayerCache>* caches) const {
  check_gates(*this, probe);
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().self.length;
  const Tensor y = decoder(x, memory, AttentionMask::causal(before),
                           AttentionMask::lengths(source_lengths), probe, caches);
  return logits(output, target_embedding, y);
}

void Seq2Seq::members(Members& visit) {
  visit("source_embedding", source_embedding);
  visit("target_embedding", target_embedding);
  visit("source_positions", source_positions);
  visit("target_positions", target_positions);
  visit("dropout", dropout);
  visit("encoder", encoder);
  visit("decoder", decoder);
  if (output) {
    visit("output", *output);
  } else {
    visit("output.weight", target_embedding.weight);
  }
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
      dropout(c.block.dropout),
      decoder(c.block, c.layers, c.block.norm_first, rng, AttentionKind::decoder_self),
      output(output_layer(c, c.source_vocabulary, rng)) {
  name_streams();
}

Tensor LanguageModel::operator()(const Ids& ids, HeadProbe* probe,
                                 std::vector<KeyValueCache>* caches) const {
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().length;
  return predict(embed(ids, before), probe, caches);
}

Tensor LanguageModel::embed(const Ids& ids, Index first) const {
  return embedded(config, embedding, positions, dropout, ids, first);
}

Tensor LanguageModel::predict(const Tensor& x, HeadProbe* probe,
                              std::vector<KeyValueCache>* caches) const {
  check_gates(*this, probe);
  const Index before = caches == nullptr || caches->empty() ? 0 : caches->front().length;
  return logits(output, embedding, decoder(x, AttentionMask::causal(before), probe, caches));
}

void LanguageModel::members(Members& visit) {
  visit("embedding", embedding);
  visit("positions", positions);
  visit("dropout", dropout);
  visit("decoder", decoder);
  if (output) {
    visit("output", *output);
  } else {
    visit("output.weight", embedding.weight);
  }
}

std::string LanguageModel::title() const {
  return fmt::format("LanguageModel({} tokens)", config.source_vocabulary);
}

// ---------------------------------------------------------------- classifier

Classifier::Classifier(const ModelConfig& c, Rng& rng)
    : config(checked(c)),
      embedding(c.source_vocabulary, c.block.width, rng, embedding_deviation(c)),
      positions(c.positions, c.longest, c.block.width, rng),
      dropout(c.block.dropout),
      encoder(c.block, c.layers, c.block.norm_first, rng),
      output(c.block.width, c.target_vocabulary, rng, c.block.bias) {
  name_streams();
}

Tensor Classifier::operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe) const {
  check_gates(*this, probe);
  const Tensor x = encoder(embedded(config, embedding, positions, dropout, ids, 0),
                           AttentionMask::lengths(lengths), probe);
  // Mean over the positions without padding: weights 1/length there, 0 on padding.
  const Index batch = ids.dim(0), time = ids.dim(1);
  Array weights = zeros({batch, time, 1});
  for (Index b = 0; b < batch; ++b) {
    for (Index t = 0; t < lengths[b]; ++t) weights[b * time + t] = 1 / Real(lengths[b]);
  }
  return output(sum(x * constant(weights), {1}));
}

void Classifier::members(Members& visit) {
  visit("embedding", embedding);
  visit("positions", positions);
  visit("dropout", dropout);
  visit("encoder", encoder);
  visit("output", output);
}

std::string Classifier::title() const {
  return fmt::format("Classifier({} tokens -> {} classes)", config.source_vocabulary,
                     config.target_vocabulary);
}

std::unique_ptr<Module> make_model(const ModelConfig& config, Rng& rng,
                                   std::span<const HeadId> removed) {
  std::unique_ptr<Module> model;
  switch (config.kind) {
    case ModelKind::seq2seq: model = std::make_unique<Seq2Seq>(config, rng); break;
    case ModelKind::language_model: model = std::make_unique<LanguageModel>(config, rng); break;
    case ModelKind::classifier: model = std::make_unique<Classifier>(config, rng); break;
  }
  prune(*model, removed);
  return model;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
