// Laws 1, 2, 3, 5 and 8 of attention layouts: calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/ops/shaping.hpp"
#include "surgery/layout_laws.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

void check_state(const LayoutCase& layout) {
  const auto attention = layout.make();
  const std::vector<Array> first = in_law(1, "a call", [&] { return layout.values(*attention); });
  for (const Array& y : first) {
    require(std::ranges::all_of(y.span(), [](Real x) { return std::isfinite(x); }), 1,
            "the output is not finite, although inputs and parameters are");
  }
  layout.values(*attention, layout.gates_without(std::vector<Index>{0}));
  const std::vector<Array> again = layout.values(*attention);
  for (std::size_t i = 0; i < first.size(); ++i) {
    require(same_bits(first[i], again[i]), 1,
            "two equal calls have different results; does the attention keep state?");
  }
}

void check_score_bias(const LayoutCase& layout, const Attention& attention,
                      std::span<const Index> removed) {
  const NoGrad quiet;
  const Tensor bias = in_law(8, heads_text(removed), [&] {
    return attention.score_bias(LayoutCase::queries, LayoutCase::keys, 0);
  });
  if (!bias.defined()) return;
  const Index heads = layout.config.heads;
  const Shape& shape = bias.shape();
  require(
      shape == Shape{heads} || shape == Shape{heads, LayoutCase::queries, LayoutCase::keys} ||
          (shape.rank() == 4 &&
           shape == Shape{shape[0], heads, LayoutCase::queries, LayoutCase::keys}),
      8,
      fmt::format("{}: the score bias of {} queries and {} keys is {}; H counts the {} "
                  "original heads",
                  heads_text(removed), LayoutCase::queries, LayoutCase::keys, shape.text(), heads));
}

void check_inputs(const LayoutCase& layout) {
  const NoGrad quiet;
  const auto attention = layout.make();
  const auto compare = [&](const Tensor& query, const Tensor& key, const char* inputs) {
    const auto output = [&](const Tensor& k, const Tensor& v) {
      return in_law(1, inputs, [&] { return (*attention)(query, k, v, AttentionMask::none()).y; });
    };
    require(same(output(key, key).value(),
                 output(constant(key.value().clone()), constant(key.value().clone())).value()),
            1, fmt::format("{} as one tensor and as equal tensors give different results", inputs));
  };
  if (layout.config.key_width == layout.config.value_width) {
    compare(layout.query, layout.key, "key and value");
  }
  if (layout.self_attention()) compare(layout.query, layout.query, "query, key and value");
}

/// Three rows at once, then one by one.
void check_decoding(const LayoutCase& layout, const Attention& attention,
                    std::span<const Index> removed) {
  const NoGrad quiet;
  const std::vector<Array> whole = layout.values(attention);
  KeyValueCache own, memory, shared;
  own.reserve(LayoutCase::queries);
  memory.fixed = shared.fixed = true;
  Tensor of_shared;
  if (layout.config.key_width == layout.config.value_width) {
    of_shared = attention(layout.query, layout.key, layout.key, AttentionMask::none()).y;
  }
  const std::string state = heads_text(removed);
  for (Index from = 0, to = 3; from < LayoutCase::queries; from = to++) {
    const Tensor now = slice(layout.query, 1, from, to);
    const auto compare = [&](const Array& all, const Array& part, const char* kind) {
      require(same(part, slice(all, {1, from, to})), 3,
              fmt::format("{}: decoded from a cache, rows [{}, {}) of {} differ from those of "
                          "the plain call; a row may depend on its own input and its position, "
                          "counted from `first`",
                          state, from, to, kind));
    };
    const Tensor z = in_law(from == 0 ? 3 : 2, state + ", queries alone", [&] {
      return attention(now, layout.key, layout.value, AttentionMask::none(), {}, &memory).y;
    });
    compare(whole[0], z.value(), "cross-attention");
    if (of_shared.defined()) {  // as decoders call it
      const Tensor y = in_law(2, state + ", queries alone", [&] {
        return attention(now, layout.key, layout.key, AttentionMask::none(), {}, &shared).y;
      });
      compare(of_shared.value(), y.value(), "cross-attention to one memory");
    }
    if (!layout.self_attention()) continue;
    const Tensor y = in_law(3, state + ", from a cache", [&] {
      return attention(now, now, now, AttentionMask::causal(from), {}, &own).y;
    });
    compare(whole[1], y.value(), "self-attention");
  }
}

void check_same_parts(const LayoutCase& layout) {
  const auto attention = layout.make();
  Rng rng(5, "check_layout fused");
  FusedHeads fused(layout.config, rng);
  fused.eval();
  std::vector<HeadShare> shares;
  std::vector<Index> all;
  for (const HeadSlice& part : attention->head_slices()) {
    if (part.role >= HeadRole::score_bias || part.head == HeadSlice::of_all) return;
  }
  for (const Index head : attention->alive()) {
    all.push_back(head);
    shares.push_back(share_of({"", attention.get()}, head));
  }
  fused.prune(all);
  try {
    fused.regrow(shares);
  } catch (const Error&) {
    return;  // other parts or shapes
  }
  const Array bias = output_bias_of(*attention);
  if (bias.defined() != layout.config.bias) return;
  if (bias.defined()) fused.out_proj.bias.set_value(bias.clone());
  const std::vector<Array> ours = layout.values(*attention), theirs = layout.values(fused);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    require(same(ours[i], theirs[i]), 5,
            "the parts are those of FusedHeads, but the function is another one; transplant, "
            "conversions and pages would confuse them. Add a parameter of role extra, for "
            "example a constant (of_none)");
  }
}

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
