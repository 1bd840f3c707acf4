// Encoder and decoder: the layers of Vaswani et al. 2017, section 3.1, pre- and post-norm.
#pragma once

#include <optional>

#include "headroom/nn/attention.hpp"
#include "headroom/nn/layers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Configuration shared by all layers of a stack.
struct BlockConfig {
  Index width = 0;     // C
  Index heads = 1;     // H
  Index head_dim = 0;  // D; 0: width / heads
  Index hidden = 0;    // F; 0: 4 * width
  Real dropout = 0;    // on attention weights, hidden units and both branches' outputs
  std::optional<Real> attention_dropout = {};  // on attention weights, if it differs
  std::optional<Real> hidden_dropout = {};     // on hidden units of the feed-forward likewise
  bool norm_first = true;  // pre-norm: x + f(norm(x)); post-norm: norm(x + f(x))
  Activation activation = Activation::relu;
  NormKind norm = NormKind::layer;
  Real epsilon = Real(1e-5);
  bool bias = true;
  Layout layout = Layout::fused;
};

/// Self-attention, then feed-forward, each with its residual and norm, as in
/// torch.nn.TransformerEncoderLayer.
class EncoderLayer : public Module {
  std::unique_ptr<Attention> self_attn_;  // the first member, because members draw in this order

 public:
  EncoderLayer(const BlockConfig& config, Rng& rng);
  /// x [B, T, C] -> [B, T, C]
  Tensor operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe = nullptr,
                    KeyValueCache* cache = nullptr) const;
  Attention& self_attn() const { return *self_attn_; }
  /// Replaces the self-attention by one of the same width, which takes over location, random stream
  /// and training mode. Construct the optimizer afterwards. Throws UsageError for nullptr and for
  /// other widths.
  void set_attention(std::unique_ptr<Attention> attention);
  void members(Members& visit) override;
  std::string title() const override;

  bool norm_first;
  FeedForward feed_forward;
  Norm norm1, norm2;
  Dropout dropout1, dropout2;
};

/// Keys and values of one decoder layer.
struct DecoderLayerCache {
  KeyValueCache self, cross;
};

/// Self-attention, cross-attention, feed-forward, as in torch.nn.TransformerDecoderLayer.
class DecoderLayer : public Module {
  std::unique_ptr<Attention> self_attn_, multihead_attn_;  // first, as in EncoderLayer

 public:
  DecoderLayer(const BlockConfig& config, Rng& rng);
  /// x [B, Tq, C], memory [B, Tk, C] -> [B, Tq, C]
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                    const AttentionMask& memory_mask, HeadProbe* probe = nullptr,
                    DecoderLayerCache* cache = nullptr) const;
  Attention& self_attn() const { return *self_attn_; }
  Attention& multihead_attn() const { return *multihead_attn_; }
  /// Replaces one of the two attentions, as EncoderLayer::set_attention() does.
  void set_self_attention(std::unique_ptr<Attention> attention);
  void set_cross_attention(std::unique_ptr<Attention> attention);
  void members(Members& visit) override;
  std::string title() const override;

  bool norm_first;
  FeedForward feed_forward;
  Norm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;
};

/// A stack of encoder layers, optionally with a last norm. With kind decoder_self its heads are
/// located in a decoder: the stack of a language model, which has no cross-attention.
class Encoder : public Module {
 public:
  Encoder(const BlockConfig& config, Index layers, bool last_norm, Rng& rng,
          AttentionKind kind = AttentionKind::encoder_self);
  /// x [B, T, C] -> [B, T, C]; with caches, one for each layer, x holds only the new positions.
  Tensor operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe = nullptr,
                    std::vector<KeyValueCache>* caches = nullptr) const;
  void members(Members& visit) override;
  std::string title() const override;

  std::vector<std::unique_ptr<EncoderLayer>> layers;
  std::unique_ptr<Norm> norm;  // nullptr without last norm
};

/// A stack of decoder layers.
class Decoder : public Module {
 public:
  Decoder(const BlockConfig& config, Index layers, bool last_norm, Rng& rng);
  /// x [B, Tq, C], memory [B, Tk, C] -> [B, Tq, C]; caches as in Encoder.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                    const AttentionMask& memory_mask, HeadProbe* probe = nullptr,
                    std::vector<DecoderLayerCache>* caches = nullptr) const;
  void members(Members& visit) override;
  std::string title() const override;

  std::vector<std::unique_ptr<DecoderLayer>> layers;
  std::unique_ptr<Norm> norm;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
