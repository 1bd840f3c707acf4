// SeparateHeads: one Linear per head.
#include "headroom/nn/separate_heads.hpp"

#include <fmt/format.h>

#include "headroom/ops/matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Linears = std::vector<std::unique_ptr<Linear>>;

/// [B, T, C] -> [B, T, live * D]: applies every head's Linear to the whole input and concatenates
/// the outputs. Equals concat({head_0(x), head_1(x), ...}, -1).
Tensor each(const Linears& heads, const Tensor& x) {
  std::vector<Tensor> weights, biases;
  for (const auto& head : heads) {
    weights.push_back(head->weight);
    biases.push_back(head->bias);
  }
  return linear_side_by_side(x, weights, biases);
}

Linears make_heads(const AttentionConfig& config, Index in, Index fan_out, Rng& rng) {
  Linears heads;
  for (Index head = 0; head < config.heads; ++head) {
    heads.push_back(
        std::make_unique<Linear>(xavier_uniform({config.head_dim, in}, in, fan_out, rng),
                                 config.bias ? zeros({config.head_dim}) : Array()));
  }
  return heads;
}

}  // namespace

SeparateHeads::SeparateHeads(const AttentionConfig& wanted, Rng& rng)
    : Attention(wanted),
      query(make_heads(config(), config().width, projection_fan_out(), rng)),
      key(make_heads(config(), config().key_width, projection_fan_out(), rng)),
      value(make_heads(config(), config().value_width, projection_fan_out(), rng)),
      out(config().heads * config().head_dim, config().width, rng, config().bias) {}

Attention::Projections SeparateHeads::project(const Tensor& from, const Tensor& keys,
                                              const Tensor& values, Index /*first*/) const {
  Projections heads;
  heads.query.source = each(query, from);
  if (keys.defined()) {
    heads.key.source = each(key, keys);
    heads.value.source = each(value, values);
  }
  return heads;
}

Tensor SeparateHeads::combine(const Tensor& heads, const Tensor& /*query*/) const {
  return out(heads);
}

void SeparateHeads::drop_modules(std::span<const Index> kept) {
  for (Linears* const heads : {&query, &key, &value}) {
    Linears stay;
    for (const Index position : kept) {
      stay.push_back(std::move((*heads)[static_cast<std::size_t>(position)]));
    }
    *heads = std::move(stay);
  }
}

void SeparateHeads::add_modules(std::span<const Index> fresh) {
  for (const auto& [heads, in] : {std::pair(&query, config().width),
                                  {&key, config().key_width},
                                  {&value, config().value_width}}) {
    for (const Index position : fresh) {
      heads->insert(heads->begin() + position,
                    std::make_unique<Linear>(zeros({head_dim(), in}),
                                             config().bias ? zeros({head_dim()}) : Array()));
    }
  }
}

std::vector<HeadSlice> SeparateHeads::head_slices() const {
  std::vector<HeadSlice> slices;
  const Index d = head_dim();
  for (Index i = 0; i < live(); ++i) {
    const Index head = alive()[static_cast<std::size_t>(i)];
    for (const auto& [name, role, bias_role] :
         {std::tuple("query", HeadRole::query, HeadRole::query_bias),
          {"key", HeadRole::key, HeadRole::key_bias},
          {"value", HeadRole::value, HeadRole::value_bias}}) {
      slices.push_back({role, head, fmt::format("{}.{}.weight", name, head), 0, 0, d});
      if (config().bias) {
        slices.push_back({bias_role, head, fmt::format("{}.{}.bias", name, head), 0, 0, d});
      }
    }
    slices.push_back({HeadRole::output, head, "out.weight", 1, i * d, (i + 1) * d});
  }
  if (config().bias) {
    slices.push_back({HeadRole::output_bias, HeadSlice::of_none, "out.bias", 0, 0, config().width});
  }
  return slices;
}

void SeparateHeads::members(Members& visit) {
  for (auto [name, heads] : {std::pair("query", &query), {"key", &key}, {"value", &value}}) {
    for (std::size_t i = 0; i < heads->size(); ++i) {
      visit(fmt::format("{}.{}", name, alive()[i]), *(*heads)[i]);
    }
  }
  visit("out", out);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
