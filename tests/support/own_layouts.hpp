// Two user-defined layouts: fused heads with a score bias.
#pragma once

#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/shaping.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

inline Layout slopes_layout();
inline Layout table_layout();

/// Fused heads with a slope for each.
class SlopeHeads : public FusedHeads {
 public:
  SlopeHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng), slopes(parameter(normal({config.heads}, rng))) {}
  Layout layout() const override { return slopes_layout(); }
  Tensor score_bias(Index, Index, Index) const override { return of_original_heads(slopes); }
  std::vector<HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({HeadRole::score_bias, head, "slopes", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("slopes", slopes);
  }
  Tensor slopes;  // [live]
};

/// Fused heads with a bias for each distance, [live, distances].
class TableHeads : public FusedHeads {
 public:
  static constexpr Index reach = 20;
  TableHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng), table(parameter(normal({config.heads, 2 * reach}, rng))) {}
  Layout layout() const override { return table_layout(); }
  Tensor score_bias(Index queries, Index keys, Index first) const override {
    Ids distances({queries * keys});
    for (Index e = 0; e < distances.size(); ++e) {
      distances[e] = static_cast<std::int32_t>(reach + e % keys - e / keys - first);
    }
    return reshape(gather(of_original_heads(table), 1, distances), {config().heads, queries, keys});
  }
  std::vector<HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({HeadRole::score_bias, head, "table", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("table", table);
  }
  Tensor table;
};

template <class Heads>
AttentionFactory factory() {
  return
      [](const AttentionConfig& config, Rng& rng) { return std::make_unique<Heads>(config, rng); };
}

inline Layout slopes_layout() {
  static const Layout layout = add_layout("slopes", "a slope for each head", factory<SlopeHeads>());
  return layout;
}
inline Layout table_layout() {
  static const Layout layout = add_layout("table", "a bias by distance", factory<TableHeads>());
  return layout;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
