// Both layouts with the same random weights, for the checks of exercises on layouts.
#pragma once

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"

namespace chapter {

/// Attention of width 12 with 4 heads in both layouts, which compute the same function, and inputs
/// of different lengths: x [2, 3, 12], and memory and other [2, 5, 12].
struct Twins {
  static constexpr Index width = 12, heads = 4, head_dim = width / heads;

  explicit Twins(std::uint64_t seed, bool bias = true)
      : rng(seed, "twins"),
        separate(config(bias), rng),
        fused(config(bias), rng),
        x(parameter(random_array({2, 3, width}, rng))),
        memory(parameter(random_array({2, 5, width}, rng))) {
    // Moderate weights, so that no softmax saturates: in float its gradient would be rounding.
    for (headroom::NamedParameter& p : parameters(separate)) {
      p.tensor.set_value(normal(p.tensor.shape(), Real(0.3), rng));
    }
    transplant(separate, fused);
    other = parameter(random_array({2, 5, width}, rng));
  }

  static headroom::AttentionConfig config(bool bias) {
    return {.width = width, .heads = heads, .bias = bias};
  }
  /// The output of self-attention on x.
  Array self(const headroom::Attention& layer) const { return attended(layer, x, x); }
  /// The output of attention with queries from x, keys and values from memory.
  Array cross(const headroom::Attention& layer) const { return attended(layer, memory, memory); }
  /// The output of attention with queries from x.
  Array attended(const headroom::Attention& layer, const Tensor& keys, const Tensor& values) const {
    const headroom::NoGrad quiet;
    return layer(x, keys, values, headroom::AttentionMask::none(), {}).y.value();
  }

  headroom::Rng rng;
  headroom::SeparateHeads separate;
  headroom::FusedHeads fused;
  Tensor x, memory, other;
};

}  // namespace chapter
