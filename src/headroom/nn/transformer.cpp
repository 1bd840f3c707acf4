// Encoder and decoder layers and their stacks.
#include "headroom/nn/transformer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Index hidden_of(const BlockConfig& config) {
  return config.hidden == 0 ? 4 * config.width : config.hidden;
}

FeedForward feed_forward_of(const BlockConfig& config, Rng& rng) {
  return {config.width,      hidden_of(config),
          config.activation, config.hidden_dropout.value_or(config.dropout),
          config.bias,       rng};
}

std::unique_ptr<Attention> attention_of(const BlockConfig& config, AttentionKind kind, Rng& rng) {
  AttentionConfig heads;
  heads.width = config.width;
  heads.heads = config.heads;
  heads.head_dim = config.head_dim;
  heads.bias = config.bias;
  heads.dropout = config.attention_dropout.value_or(config.dropout);
  auto attention = make_attention(config.layout, heads, rng);
  attention->set_location({kind, 0});
  return attention;
}

/// Replaces `attention` by `next` in its model.
void replace(std::unique_ptr<Attention>& attention, std::unique_ptr<Attention> next) {
  if (next == nullptr) throw UsageError("set_attention: there is no attention (nullptr)");
  const auto widths = [](const Attention& a) {
    return std::array{a.config().width, a.config().key_width, a.config().value_width};
  };
  if (widths(*next) != widths(*attention)) {
    throw UsageError(
        fmt::format("set_attention: queries, keys and values of width {}; this layer's have {}",
                    fmt::join(widths(*next), ", "), fmt::join(widths(*attention), ", ")));
  }
  next->set_location(attention->location());
  next->name_streams(attention->path());
  next->train(attention->training());
  attention = std::move(next);
}

/// One branch around its residual: pre-norm x + f(norm(x)), post-norm norm(x + f(x)).
template <class F>
Tensor residual(bool norm_first, const Tensor& x, const Norm& norm, const Dropout& dropout, F f) {
  return norm_first ? x + dropout(f(norm(x))) : norm(x + dropout(f(x)));
}

}  // namespace

// ---------------------------------------------------------------- encoder

EncoderLayer::EncoderLayer(const BlockConfig& config, Rng& rng)
    : self_attn_(attention_of(config, AttentionKind::encoder_self, rng)),
      norm_first(config.norm_first),
      feed_forward(feed_forward_of(config, rng)),
      norm1(config.width, config.norm, config.epsilon),
      norm2(config.width, config.norm, config.epsilon),
      dropout1(config.dropout),
      dropout2(config.dropout) {
  name_streams();
}

Tensor EncoderLayer::operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe,
                                KeyValueCache* cache) const {
  const auto attend_to_self = [&](const Tensor& v) {
    return attend(*self_attn_, v, v, mask, probe, cache);
  };
  const Tensor seen = residual(norm_first, x, norm1, dropout1, attend_to_self);
  return residual(norm_first, seen, norm2, dropout2,
                  [&](const Tensor& v) { return feed_forward(v); });
}

void EncoderLayer::set_attention(std::unique_ptr<Attention> attention) {
  replace(self_attn_, std::move(attention));
}

void EncoderLayer::members(Members& visit) {
  visit("self_attn", *self_attn_);
  feed_forward.members(visit);  // linear1 and linear2 are members of the layer, as in PyTorch
  visit("norm1", norm1);
  visit("norm2", norm2);
  visit("dropout1", dropout1);
  visit("dropout2", dropout2);
}

std::string EncoderLayer::title() const {
  return fmt::format("EncoderLayer({}-norm, {})", norm_first ? "pre" : "post",
                     name_of(feed_forward.activation));
}

Encoder::Encoder(const BlockConfig& config, Index count, bool last_norm, Rng& rng,
                 AttentionKind kind) {
  for (Index i = 0; i < count; ++i) {
    layers.push_back(std::make_unique<EncoderLayer>(config, rng));
    layers.back()->self_attn().set_location({kind, i});
  }
  if (last_norm) norm = std::make_unique<Norm>(config.width, config.norm, config.epsilon);
  name_streams();
}

Tensor Encoder::operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe,
                           std::vector<KeyValueCache>* caches) const {
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    y = (*layers[i])(y, mask, probe, caches == nullptr ? nullptr : &(*caches)[i]);
  }
  if (probe != nullptr && probe->head_out) probe->residual = y;
  return norm ? (*norm)(y) : y;
}

void Encoder::members(Members& visit) {
  visit("layers", layers);
  if (norm) visit("norm", *norm);
}

std::string Encoder::title() const { return fmt::format("Encoder({} layers)", layers.size()); }

// ---------------------------------------------------------------- decoder

DecoderLayer::DecoderLayer(const BlockConfig& config, Rng& rng)
    : self_attn_(attention_of(config, AttentionKind::decoder_self, rng)),
      multihead_attn_(attention_of(config, AttentionKind::cross, rng)),
      norm_first(config.norm_first),
      feed_forward(feed_forward_of(config, rng)),
      norm1(config.width, config.norm, config.epsilon),
      norm2(config.width, config.norm, config.epsilon),
      norm3(config.width, config.norm, config.epsilon),
      dropout1(config.dropout),
      dropout2(config.dropout),
      dropout3(config.dropout) {
  name_streams();
}

Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                const AttentionMask& memory_mask, HeadProbe* probe,
                                DecoderLayerCache* cache) const {
  const auto attend_to_self = [&](const Tensor& v) {
    return attend(*self_attn_, v, v, mask, probe, cache == nullptr ? nullptr : &cache->self);
  };
  const auto attend_to_memory = [&](const Tensor& v) {
    return attend(*multihead_attn_, v, memory, memory_mask, probe,
                  cache == nullptr ? nullptr : &cache->cross);
  };
  const Tensor own = residual(norm_first, x, norm1, dropout1, attend_to_self);
  const Tensor seen = residual(norm_first, own, norm2, dropout2, attend_to_memory);
  return residual(norm_first, seen, norm3, dropout3,
                  [&](const Tensor& v) { return feed_forward(v); });
}

void DecoderLayer::set_self_attention(std::unique_ptr<Attention> attention) {
  replace(self_attn_, std::move(attention));
}

void DecoderLayer::set_cross_attention(std::unique_ptr<Attention> attention) {
  replace(multihead_attn_, std::move(attention));
}

void DecoderLayer::members(Members& visit) {
  visit("self_attn", *self_attn_);
  visit("multihead_attn", *multihead_attn_);
  feed_forward.members(visit);
  visit("norm1", norm1);
  visit("norm2", norm2);
  visit("norm3", norm3);
  visit("dropout1", dropout1);
  visit("dropout2", dropout2);
  visit("dropout3", dropout3);
}

std::string DecoderLayer::title() const {
  return fmt::format("DecoderLayer({}-norm, {})", norm_first ? "pre" : "post",
                     name_of(feed_forward.activation));
}

Decoder::Decoder(const BlockConfig& config, Index count, bool last_norm, Rng& rng) {
  for (Index i = 0; i < count; ++i) {
    layers.push_back(std::make_unique<DecoderLayer>(config, rng));
    layers.back()->self_attn().set_location({AttentionKind::decoder_self, i});
    layers.back()->multihead_attn().set_location({AttentionKind::cross, i});
  }
  if (last_norm) norm = std::make_unique<Norm>(config.width, config.norm, config.epsilon);
  name_streams();
}

Tensor Decoder::operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                           const AttentionMask& memory_mask, HeadProbe* probe,
                           std::vector<DecoderLayerCache>* caches) const {
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    y = (*layers[i])(y, memory, mask, memory_mask, probe,
                     caches == nullptr ? nullptr : &(*caches)[i]);
  }
  if (probe != nullptr && probe->head_out) probe->residual = y;
  return norm ? (*norm)(y) : y;
}

void Decoder::members(Members& visit) {
  visit("layers", layers);
  if (norm) visit("norm", *norm);
}

std::string Decoder::title() const { return fmt::format("Decoder({} layers)", layers.size()); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
