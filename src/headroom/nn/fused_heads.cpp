// FusedHeads: one Linear for all heads.
#include "headroom/nn/fused_heads.hpp"

#include <array>
#include <tuple>

#include "headroom/ops/matmul.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

FusedHeads::FusedHeads(const AttentionConfig& wanted, Rng& rng)
    : Attention(wanted),
      out_proj(Array({config().width, config().heads * config().head_dim}), Array()) {
  const Index rows = config().heads * config().head_dim, fan_out = projection_fan_out();
  const auto draw = [&](Index in, Index count) {
    return parameter(xavier_uniform({count, in}, in, fan_out, rng));
  };
  if (config().key_width == config().width && config().value_width == config().width) {
    in_proj_weight = draw(config().width, 3 * rows);
  } else {
    q_proj_weight = draw(config().width, rows);
    k_proj_weight = draw(config().key_width, rows);
    v_proj_weight = draw(config().value_width, rows);
  }
  if (config().bias) in_proj_bias = parameter(zeros({3 * rows}));
  out_proj.weight.set_value(xavier_uniform(out_proj.weight.shape(), rows, config().width, rng));
  if (config().bias) out_proj.bias = parameter(zeros({config().width}));
}

Attention::Projections FusedHeads::project(const Tensor& query, const Tensor& key,
                                           const Tensor& value, Index /*first*/) const {
  const Index rows = live() * head_dim();
  if (in_proj_weight.defined() && query.same(key) && key.same(value)) {  // self-attention
    const Tensor qkv = linear(query, in_proj_weight, in_proj_bias);
    return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
  }
  // Thirds [begin, end) of the packed rows, applied to one input.
  const auto part = [&](const Tensor& x, const Tensor& own_weight, Index begin, Index end) {
    const Tensor weight =
        own_weight.defined() ? own_weight : slice(in_proj_weight, 0, begin * rows, end * rows);
    const Tensor bias =
        in_proj_bias.defined() ? slice(in_proj_bias, 0, begin * rows, end * rows) : Tensor();
    return linear(x, weight, bias);
  };
  const Tensor q = part(query, q_proj_weight, 0, 1);
  if (!key.defined()) return {{q, 0}, {}, {}};
  if (in_proj_weight.defined() && key.same(value)) {  // cross-attention: one product for both
    const Tensor kv = part(key, {}, 1, 3);
    return {{q, 0}, {kv, 0}, {kv, rows}};
  }
  return {{q, 0}, {part(key, k_proj_weight, 1, 2), 0}, {part(value, v_proj_weight, 2, 3), 0}};
}

Tensor FusedHeads::combine(const Tensor& heads, const Tensor& /*query*/) const {
  return out_proj(heads);
}

std::vector<HeadSlice> FusedHeads::head_slices() const {
  std::vector<HeadSlice> slices;
  const Index d = head_dim(), rows = live() * d;
  const bool packed = in_proj_weight.defined();
  for (Index i = 0; i < live(); ++i) {
    const Index head = alive()[static_cast<std::size_t>(i)];
    Index third = 0;
    for (const auto& [name, role, bias_role] :
         {std::tuple("q_proj_weight", HeadRole::query, HeadRole::query_bias),
          {"k_proj_weight", HeadRole::key, HeadRole::key_bias},
          {"v_proj_weight", HeadRole::value, HeadRole::value_bias}}) {
      const Index begin = third * rows + i * d;  // among the packed rows
      const Index own = packed ? begin : i * d;
      slices.push_back({role, head, packed ? "in_proj_weight" : name, 0, own, own + d});
      if (config().bias) slices.push_back({bias_role, head, "in_proj_bias", 0, begin, begin + d});
      ++third;
    }
    slices.push_back({HeadRole::output, head, "out_proj.weight", 1, i * d, (i + 1) * d});
  }
  if (config().bias) {
    slices.push_back(
        {HeadRole::output_bias, HeadSlice::of_none, "out_proj.bias", 0, 0, config().width});
  }
  return slices;
}

void FusedHeads::members(Members& visit) {
  visit("in_proj_weight", in_proj_weight);
  visit("q_proj_weight", q_proj_weight);
  visit("k_proj_weight", k_proj_weight);
  visit("v_proj_weight", v_proj_weight);
  visit("in_proj_bias", in_proj_bias);
  visit("out_proj", out_proj);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
