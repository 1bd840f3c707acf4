// SharedHead: one small Linear that every head reuses.
#include "headroom/nn/shared_head.hpp"

#include <fmt/format.h>

#include <tuple>

#include "headroom/base/error.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

SharedHead::SharedHead(const AttentionConfig& wanted, Rng& rng)
    : Attention(wanted),
      queries(config().head_dim, config().head_dim, rng, false),
      keys(config().head_dim, config().head_dim, rng, false),
      values(config().head_dim, config().head_dim, rng, false),
      fc_out(config().heads * config().head_dim, config().width, rng, config().bias) {
  const Index sliced = config().heads * config().head_dim;
  if (sliced != config().width || sliced != config().key_width || sliced != config().value_width) {
    throw UsageError(
        fmt::format("shared head: {} heads of width {} need queries, keys and values of width {}, "
                    "not {}, {}, {}",
                    config().heads, config().head_dim, sliced, config().width, config().key_width,
                    config().value_width));
  }
}

Attention::Projections SharedHead::project(const Tensor& query, const Tensor& key,
                                           const Tensor& value, Index /*first*/) const {
  const Index d = head_dim();
  Ids slices(Shape{live()});
  for (Index i = 0; i < live(); ++i)
    slices[i] = static_cast<std::int32_t>(alive()[static_cast<std::size_t>(i)]);
  // [B, T, C] -> [B, T, H, D]: each live head keeps its slice of the input.
  const auto sliced = [&](const Tensor& x, const Linear& projection) {
    Tensor apart = reshape(x, {x.dim(0), x.dim(1), config().heads, d});
    if (live() < config().heads) apart = gather(apart, 2, slices);
    return reshape(projection(apart), {x.dim(0), x.dim(1), live() * d});
  };
  Projections heads;
  heads.query.source = sliced(query, queries);
  if (key.defined()) {
    heads.key.source = sliced(key, keys);
    heads.value.source = sliced(value, values);
  }
  return heads;
}

Tensor SharedHead::combine(const Tensor& heads, const Tensor& /*query*/) const {
  return fc_out(heads);
}

std::vector<HeadSlice> SharedHead::head_slices() const {
  const Index d = head_dim();
  std::vector<HeadSlice> slices;
  for (const auto& [name, role] : {std::pair("queries.weight", HeadRole::query),
                                   {"keys.weight", HeadRole::key},
                                   {"values.weight", HeadRole::value}}) {
    slices.push_back({role, HeadSlice::of_all, name, 0, 0, d});
  }
  for (Index i = 0; i < live(); ++i) {
    slices.push_back({HeadRole::output, alive()[static_cast<std::size_t>(i)], "fc_out.weight", 1,
                      i * d, (i + 1) * d});
  }
  if (config().bias) {
    slices.push_back(
        {HeadRole::output_bias, HeadSlice::of_none, "fc_out.bias", 0, 0, config().width});
  }
  return slices;
}

void SharedHead::members(Members& visit) {
  visit("queries", queries);
  visit("keys", keys);
  visit("values", values);
  visit("fc_out", fc_out);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
