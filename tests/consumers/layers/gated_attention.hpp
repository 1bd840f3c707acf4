// Gated attention: each head's output is multiplied by sigmoid(w_h x + b_h), where x is the query's
// input. Qiu et al. 2025, "Gated Attention for Large Language Models", head-wise variant.
#pragma once

#include "headroom/headroom.hpp"

class GatedAttention : public headroom::FusedHeads {
 public:
  GatedAttention(const headroom::AttentionConfig& config, headroom::Rng& rng)
      : FusedHeads(config, rng),
        gate_weight(headroom::parameter(
            headroom::xavier_uniform({config.heads, config.width}, config.width, 1, rng))),
        gate_bias(headroom::parameter(headroom::zeros({config.heads}))) {}

  static headroom::Layout registered() {
    using namespace headroom;
    static const Layout layout = add_layout("gated", "fused heads with a gate each",
                                            [](const AttentionConfig& config, Rng& rng) {
                                              return std::make_unique<GatedAttention>(config, rng);
                                            });
    return layout;
  }
  headroom::Layout layout() const override { return registered(); }

  std::vector<headroom::HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (headroom::Index i = 0; i < live(); ++i) {
      const headroom::Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({headroom::HeadRole::extra, head, "gate_weight", 0, i, i + 1});
      slices.push_back({headroom::HeadRole::extra, head, "gate_bias", 0, i, i + 1});
    }
    return slices;
  }

  void members(headroom::Members& visit) override {
    FusedHeads::members(visit);
    visit("gate_weight", gate_weight);
    visit("gate_bias", gate_bias);
  }

  headroom::Tensor gate_weight, gate_bias;  // [live, C], [live]

 protected:
  headroom::Tensor combine(const headroom::Tensor& heads,
                           const headroom::Tensor& query) const override {
    if (live() == 0) return FusedHeads::combine(heads, query);
    using namespace headroom;
    const Index batch = query.dim(0), time = query.dim(1);
    const Tensor gates = sigmoid(linear(query, gate_weight, gate_bias));  // [B, T, live]
    const Tensor apart = reshape(heads, {batch, time, live(), head_dim()});
    return FusedHeads::combine(
        reshape(apart * reshape(gates, {batch, time, live(), 1}), heads.shape()), query);
  }
};
