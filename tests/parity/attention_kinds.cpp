// Parity of attention: the operation, PyTorch's layer, and the ones that people write themselves.
#include "headroom/ops/shaping.hpp"
#include "parity/kinds.hpp"
#include "parity/twin.hpp"
#include "support/own_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

/// [B, H, T, D] -> [B, T, H * D], heads side by side; and back.
Tensor side_by_side(const Tensor& x) {
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}
Tensor apart(const Tensor& x, Index heads) {
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Twin<Attention> attention_twin(Layout home, Layout layout, const AttentionConfig& config) {
  return {home, layout, [&](Layout wanted) {
            Rng rng(1);
            return make_attention(wanted, config, rng);
          }};
}

}  // namespace

void sdpa(Case& c, Layout) {
  const Tensor query = c.input("query"), key = c.input("key"), value = c.input("value");
  const Index heads = query.dim(1), width = query.dim(3);
  AttentionOptions options;
  options.mask = AttentionMask::allow(c.bytes("mask"));
  const Tensor y = attention({side_by_side(query)}, {side_by_side(key)}, {side_by_side(value)},
                             heads, width, width, options);
  c.compare_outputs(std::vector<Output>{{"y", apart(y, heads)}});
  c.compare_gradient("query", query);
  c.compare_gradient("key", key);
  c.compare_gradient("value", value);
}

void mha(Case& c, Layout layout) {
  const Tensor query = c.input("query");
  const bool cross = c.config().at("cross").get<bool>();
  const Tensor key = cross ? c.input("key") : query, value = cross ? c.input("value") : query;
  AttentionConfig config;
  config.width = query.dim(2);
  config.heads = c.config().at("heads").get<Index>();
  config.key_width = key.dim(2);
  config.value_width = value.dim(2);
  config.bias = c.config().at("bias").get<bool>();
  Twin<Attention> twin = attention_twin(Layout::fused, layout, config);
  c.load(twin.home());
  twin.bring_out();

  AttentionAsk ask;
  ask.maps = true;
  const AttentionOut out =
      twin.model()(query, key, value, AttentionMask::allow(c.bytes("mask")), ask);
  c.compare_outputs(std::vector<Output>{{"y", out.y}, {"weights", out.maps}});
  c.compare_gradient("query", query);
  if (cross) c.compare_gradient("key", key);
  if (cross) c.compare_gradient("value", value);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home());
}

void shared_head(Case& c, Layout) {
  const Tensor x = c.input("x");
  AttentionConfig config;
  config.width = x.dim(2);
  config.heads = c.config().at("heads").get<Index>();
  Rng rng(1);
  const std::unique_ptr<Attention> layer = make_attention(Layout::shared, config, rng);
  c.load(*layer);
  c.compare_outputs(
      std::vector<Output>{{"y", (*layer)(x, x, AttentionMask::allow(c.bytes("mask")))}});
  c.compare_gradient("x", x);
  c.compare_gradients(*layer);
}

void separate_heads(Case& c, Layout layout) {
  const Tensor query = c.input("query"), memory = c.input("memory");
  AttentionConfig config;
  config.width = query.dim(2);
  config.heads = c.config().at("heads").get<Index>();
  config.head_dim = c.config().at("head_dim").get<Index>();
  Twin<Attention> twin = attention_twin(Layout::separate, layout, config);
  c.load(twin.home());
  twin.bring_out();

  const Tensor y = twin.model()(query, memory, AttentionMask::allow(c.bytes("mask")));
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("query", query);
  c.compare_gradient("memory", memory);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home());
}

void d2l(Case& c, Layout layout) {
  const Tensor queries = c.input("queries"), keys = c.input("keys"), values = c.input("values");
  const Index width = queries.dim(2);
  AttentionConfig config;
  config.width = width;
  config.heads = c.config().at("heads").get<Index>();
  config.bias = c.config().at("bias").get<bool>();
  std::vector<ParameterName> names{{"W_q.weight", "in_proj_weight", 0, width},
                                   {"W_k.weight", "in_proj_weight", width, width},
                                   {"W_v.weight", "in_proj_weight", 2 * width, width},
                                   {"W_o.weight", "out_proj.weight"}};
  if (config.bias) {
    names.push_back({"W_q.bias", "in_proj_bias", 0, width});
    names.push_back({"W_k.bias", "in_proj_bias", width, width});
    names.push_back({"W_v.bias", "in_proj_bias", 2 * width, width});
    names.push_back({"W_o.bias", "out_proj.bias"});
  }
  Twin<Attention> twin = attention_twin(Layout::fused, layout, config);
  c.load(twin.home(), names);
  twin.bring_out();

  AttentionAsk ask;
  ask.maps = true;
  const AttentionMask mask = AttentionMask::lengths(c.ids("valid_lens"));
  const AttentionOut out = twin.model()(queries, keys, values, mask, ask);
  c.compare_outputs(std::vector<Output>{{"y", out.y}, {"weights", out.maps}});
  c.compare_gradient("queries", queries);
  c.compare_gradient("keys", keys);
  c.compare_gradient("values", values);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home(), names);
}

void grouped_queries(Case& c, Layout) {
  const Tensor query = c.input("query");
  const bool cross = c.config().at("cross").get<bool>();
  const Tensor key = cross ? c.input("key") : query, value = cross ? c.input("value") : query;
  AttentionConfig config;
  config.width = query.dim(2);
  config.heads = c.config().at("heads").get<Index>();
  config.head_dim = c.config().at("head_dim").get<Index>();
  config.bias = c.config().at("bias").get<bool>();
  Rng rng(1);
  test::GroupedHeads layer(config, rng);
  c.load(layer);
  const Tensor y = layer(query, key, value, AttentionMask::allow(c.bytes("mask"))).y;
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("query", query);
  if (cross) c.compare_gradient("key", key);
  if (cross) c.compare_gradient("value", value);
  c.compare_gradients(layer);
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
