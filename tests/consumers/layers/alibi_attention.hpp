// ALiBi (Press et al. 2022): fused heads that add -slope |i - j| to their scores. The slopes are
// learned, initialised with the paper's 2^(-8 h / H).
#pragma once

#include <cmath>

#include "headroom/headroom.hpp"

class AlibiAttention : public headroom::FusedHeads {
 public:
  AlibiAttention(const headroom::AttentionConfig& config, headroom::Rng& rng)
      : FusedHeads(config, rng) {
    headroom::Array values({config.heads});
    for (headroom::Index h = 0; h < config.heads; ++h) {
      values[h] =
          static_cast<headroom::Real>(std::exp2(-8.0 * double(h + 1) / double(config.heads)));
    }
    slopes = headroom::parameter(values);
  }

  static headroom::Layout registered() {
    using namespace headroom;
    static const Layout layout = add_layout("alibi", "fused heads with a slope each",
                                            [](const AttentionConfig& config, Rng& rng) {
                                              return std::make_unique<AlibiAttention>(config, rng);
                                            });
    return layout;
  }
  headroom::Layout layout() const override { return registered(); }

  headroom::Tensor score_bias(headroom::Index, headroom::Index, headroom::Index) const override {
    return of_original_heads(slopes);
  }

  std::vector<headroom::HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (headroom::Index i = 0; i < live(); ++i) {
      const headroom::Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({headroom::HeadRole::score_bias, head, "slopes", 0, i, i + 1});
    }
    return slices;
  }

  void members(headroom::Members& visit) override {
    FusedHeads::members(visit);
    visit("slopes", slopes);
  }

  headroom::Tensor slopes;  // [live]
};
