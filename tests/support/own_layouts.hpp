// User-defined layouts: fused heads with a score bias or rotary positions, grouped queries, and one
// key and value for all heads.
#pragma once

#include <algorithm>
#include <cmath>

#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/shaping.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

inline Layout slopes_layout();
inline Layout table_layout();
inline Layout turned_layout();
inline Layout grouped_layout();
inline Layout one_key_layout();

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

/// Fused heads whose queries and keys are turned by their position: each pair of neighbouring
/// features by the same angle for every 7 positions.
class TurnedHeads : public FusedHeads {
 public:
  TurnedHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng), angle(constant(Array({1}, {Real(2 * 3.14159265358979 / 7)}))) {}
  Layout layout() const override { return turned_layout(); }
  std::vector<HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    slices.push_back({HeadRole::extra, HeadSlice::of_none, "angle", 0, 0, 1});
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("angle", angle);
  }
  Tensor angle;  // [1]; without it, the layout would pass for fused heads

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override {
    Projections heads = FusedHeads::project(query, key, value, first);
    heads.query = turned(heads.query, first);
    if (key.defined()) heads.key = turned(heads.key, first);
    return heads;
  }

 private:
  HeadColumns turned(const HeadColumns& heads, Index first) const {
    const Index width = live() * head_dim(), time = heads.source.dim(1);
    Array cosines({time, width}), sines({time, width});
    Ids partners({width});
    for (Index c = 0; c < width; ++c) partners[c] = static_cast<std::int32_t>(c ^ 1);
    for (Index e = 0; e < cosines.size(); ++e) {
      const double at = double(angle.value()[0]) * double(first + e / width);
      cosines[e] = Real(std::cos(at));
      sines[e] = Real(e % 2 == 0 ? -std::sin(at) : std::sin(at));
    }
    const Tensor x = slice(heads.source, 2, heads.first, heads.first + width);
    return {x * constant(cosines) + gather(x, 2, partners) * constant(sines), 0};
  }
};

/// Queries of their own, and a key and a value for every two heads (0 and 1, 2 and 3, ...).
class GroupedHeads : public Attention {
 public:
  GroupedHeads(const AttentionConfig& wanted, Rng& rng)
      : Attention(wanted),
        query(config().width, config().heads * head_dim(), rng, config().bias),
        key(config().key_width, (config().heads + 1) / 2 * head_dim(), rng, config().bias),
        value(config().value_width, (config().heads + 1) / 2 * head_dim(), rng, config().bias),
        out(config().heads * head_dim(), config().width, rng, config().bias) {}
  Layout layout() const override { return grouped_layout(); }
  void members(Members& visit) override {
    visit("query", query);
    visit("key", key);
    visit("value", value);
    visit("out", out);
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices;
    const Index d = head_dim();
    const auto add = [&](HeadRole role, HeadRole bias_role, auto owner, const char* name, Index i) {
      slices.push_back({role, owner, std::string(name) + ".weight", 0, i * d, (i + 1) * d});
      if (!config().bias) return;
      slices.push_back({bias_role, owner, std::string(name) + ".bias", 0, i * d, (i + 1) * d});
    };
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[std::size_t(i)];
      add(HeadRole::query, HeadRole::query_bias, head, "query", i);
      slices.push_back({HeadRole::output, head, "out.weight", 1, i * d, (i + 1) * d});
    }
    Index g = 0;
    for (const std::vector<Index>& group : groups()) {
      add(HeadRole::key, HeadRole::key_bias, group, "key", g);
      add(HeadRole::value, HeadRole::value_bias, group, "value", g++);
    }
    if (config().bias) {
      slices.push_back(
          {HeadRole::output_bias, HeadSlice::of_none, "out.bias", 0, 0, config().width});
    }
    return slices;
  }
  Linear query, key, value, out;

 protected:
  Projections project(const Tensor& from, const Tensor& keys, const Tensor& values,
                      Index /*first*/) const override {
    Projections heads{{query(from), 0}, {}, {}};
    if (!keys.defined()) return heads;
    Ids columns(Shape{live() * head_dim()});  // of the group of each live head
    Index i = 0, g = 0;
    for (const std::vector<Index>& group : groups()) {
      for (std::size_t h = 0; h < group.size(); ++h) {
        for (Index d = 0; d < head_dim(); ++d) {
          columns[i++] = static_cast<std::int32_t>(g * head_dim() + d);
        }
      }
      ++g;
    }
    heads.key.source = gather(key(keys), 2, columns);
    heads.value.source = gather(value(values), 2, columns);
    return heads;
  }
  Tensor combine(const Tensor& heads, const Tensor& /*query*/) const override { return out(heads); }

 private:
  /// The live heads by group; groups without any are left out.
  std::vector<std::vector<Index>> groups() const {
    std::vector<std::vector<Index>> result;
    for (const Index head : alive()) {
      if (result.empty() || result.back().front() / 2 != head / 2) result.emplace_back();
      result.back().push_back(head);
    }
    return result;
  }
};

/// One key and one value for all heads (Shazeer 2019), which never leave.
class OneKeyHeads : public Attention {
 public:
  OneKeyHeads(const AttentionConfig& wanted, Rng& rng)
      : Attention(wanted),
        query(config().width, config().heads * head_dim(), rng, false),
        key(config().key_width, head_dim(), rng, false),
        value(config().value_width, head_dim(), rng, false),
        out(config().heads * head_dim(), config().width, rng, false) {}
  Layout layout() const override { return one_key_layout(); }
  void members(Members& visit) override {
    visit("query", query);
    visit("key", key);
    visit("value", value);
    visit("out", out);
  }
  std::vector<HeadSlice> head_slices() const override {
    const Index d = head_dim();
    std::vector<HeadSlice> slices{{HeadRole::key, HeadSlice::of_all, "key.weight", 0, 0, d},
                                  {HeadRole::value, HeadSlice::of_all, "value.weight", 0, 0, d}};
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[std::size_t(i)];
      slices.push_back({HeadRole::query, head, "query.weight", 0, i * d, (i + 1) * d});
      slices.push_back({HeadRole::output, head, "out.weight", 1, i * d, (i + 1) * d});
    }
    return slices;
  }
  Linear query, key, value, out;

 protected:
  Projections project(const Tensor& from, const Tensor& keys, const Tensor& values,
                      Index /*first*/) const override {
    Projections heads{{query(from), 0}, {}, {}};
    if (!keys.defined()) return heads;
    Ids columns(Shape{live() * head_dim()});
    for (Index c = 0; c < columns.size(); ++c) {
      columns[c] = static_cast<std::int32_t>(c % head_dim());
    }
    heads.key.source = gather(key(keys), 2, columns);
    heads.value.source = gather(value(values), 2, columns);
    return heads;
  }
  Tensor combine(const Tensor& heads, const Tensor& /*query*/) const override { return out(heads); }
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
inline Layout turned_layout() {
  static const Layout layout = add_layout("turned", "rotary positions", factory<TurnedHeads>());
  return layout;
}
inline Layout grouped_layout() {
  static const Layout layout = add_layout("grouped", "grouped queries", factory<GroupedHeads>());
  return layout;
}
inline Layout one_key_layout() {
  static const Layout layout = add_layout("one_key", "a key for all", factory<OneKeyHeads>());
  return layout;
}
/// All layouts of this file.
inline std::vector<Layout> own_layouts() {
  return {slopes_layout(), table_layout(), turned_layout(), grouped_layout(), one_key_layout()};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
