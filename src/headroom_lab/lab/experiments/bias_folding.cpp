// Folds the value bias into the output bias.
#include "lab/experiments/bias_folding.hpp"

#include <cmath>
#include <string>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab/head_shares.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Kind = FoldingCase::Kind;

constexpr Index folding_batch = 4, folding_tokens = 8;
constexpr FoldingCase all_cases[] = {
    {"every key allowed", "1", Kind::plain, true, ""},
    {"causal mask", "1", Kind::causal, true, ""},
    {"padding, at least one key", "1", Kind::lengths, true, ""},
    {"padding, one example without keys", "1, and 0 in empty rows", Kind::empty_rows, false,
     "only rows with keys are compared"},
    {"gates between 0.25 and 0.75", "the gate", Kind::gates, false, "the sum contains g_h"},
    {"dropout 0.3 on the attention", "1 on average", Kind::dropout, false, ""}};

AttentionMask mask_of(Kind kind) {
  if (kind == Kind::causal) return AttentionMask::causal();
  if (kind == Kind::lengths) return AttentionMask::lengths(Ids({folding_batch}, {1, 3, 5, 7}));
  if (kind == Kind::empty_rows) return AttentionMask::lengths(Ids({folding_batch}, {0, 3, 5, 7}));
  return AttentionMask::none();
}

/// Sets b_V = 0 and adds to b_O.
void replace_value_bias(Attention& layer, const Array& addition) {
  set_to_zero(layer, HeadRole::value_bias);
  Tensor bias = output_bias(layer);
  Array sum = bias.value().clone();
  for (Index i = 0; i < sum.size(); ++i) sum[i] += addition[i];
  bias.set_value(sum);
}

}  // namespace

std::span<const FoldingCase> folding_cases() { return all_cases; }

Tensor output_bias(Attention& layer) {
  for (const HeadSlice& slice : layer.head_slices()) {
    if (slice.role == HeadRole::output_bias) return parameter_named(layer, slice.name);
  }
  return {};
}

Array folded_bias(Attention& layer, const Array& gates) {
  Array sum = zeros({layer.config().width});
  for (const HeadShare& share : shares_of(layer)) {
    const Array &weight = share.value.at(HeadRole::output),
                &bias = share.value.at(HeadRole::value_bias);
    const Real gate = gates.defined() ? gates[share.head.head] : Real(1);
    for (Index o = 0; o < weight.dim(0); ++o) {
      for (Index d = 0; d < weight.dim(1); ++d) {
        sum[o] += gate * weight[o * weight.dim(1) + d] * bias[d];
      }
    }
  }
  return sum;
}

Folding fold(const FoldingCase& which, const LabOptions& options, std::uint64_t draw) {
  const NoGrad quiet;
  Rng rng(options.seed, "bias folding", draw);
  AttentionConfig config{.width = options.width, .heads = options.heads};
  if (which.kind == Kind::dropout) config.dropout = Real(0.3);
  const auto layer = make_attention(Layout::fused, config, rng),
             twin = make_attention(Layout::fused, config, rng);
  randomise(*layer, rng);
  const Tensor x(normal({folding_batch, folding_tokens, options.width}, 1, rng));
  AttentionAsk ask;
  if (which.kind == Kind::gates) {
    Array gates({options.heads});
    for (Real& gate : gates.span()) gate = rng.uniform(Real(0.25), Real(0.75));
    ask.gates = Tensor(gates);
  }
  const auto output_of = [&](const Attention& one) {
    const RandomStep same_masks(options.seed, draw);
    return one(x, x, x, mask_of(which.kind), ask).y.value();
  };
  const auto folded = [&](const Array& addition) {
    transplant(*layer, *twin);
    replace_value_bias(*twin, addition);
    return output_of(*twin);
  };
  const Array y = output_of(*layer), addition = folded_bias(*layer), z = folded(addition);
  Folding result;
  result.difference = result.repaired = relative_difference(y, z);
  if (which.kind == Kind::gates) {
    result.repaired = relative_difference(y, folded(folded_bias(*layer, ask.gates.value())));
  } else if (which.kind == Kind::empty_rows) {  // of the first example, all
    result.repaired =
        relative_difference(slice(y, {0, 1, folding_batch}), slice(z, {0, 1, folding_batch}));
    for (Index i = 0; i < folding_tokens * options.width; ++i) {
      const double off = double(z[i] - (y[i] + addition[i % options.width]));
      result.of_empty_rows = larger(result.of_empty_rows, std::abs(off));
    }
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
