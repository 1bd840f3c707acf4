// What the tests of the nn floor share: random parameters, heads as blocks, random attention calls.
#pragma once

#include <map>
#include <optional>

#include "headroom/nn/models.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Contract: the same function computed in two ways. Values and gradients.
constexpr Real same_function = tolerance(1e-12, 2e-6);

/// |actual - expected| <= tolerance * max(1, max |expected|): numbers here are of the order of one,
/// and what is zero in theory (the gradient of a softmax over one key) is noise of that order.
CloseTo same_numbers(const Array& expected, Real tolerance);

/// Every parameter random: nothing may hide at zero or one.
void randomise(Module& module, Rng& rng);
/// p -= rate * dL/dp: one step of plain gradient descent.
void descend(Module& module, Real rate);

/// The blocks of an attention's parameters (or of their gradients) by role and original head.
using HeadBlocks = std::map<std::pair<HeadRole, Index>, Array>;
HeadBlocks head_values(Attention& attention);
HeadBlocks head_gradients(Attention& attention);
/// Makes blocks of the same role and head equal, whatever the layout.
void set_head_values(Attention& attention, const HeadBlocks& blocks);
/// Checks blocks of both: equal roles and heads, equal numbers at scale; the key bias, whose
/// gradient is noise, by absolute difference.
void check_same_blocks(const HeadBlocks& actual, const HeadBlocks& expected, Real tolerance);

/// One call of an attention with everything that can vary drawn at random.
struct AttentionCase {
  AttentionConfig config;
  Tensor query, key, value;  // one tensor thrice when it is self-attention
  AttentionMask mask;
  Tensor gates;     // may be undefined
  Array cotangent;  // of y

  void zero_grad();
};
AttentionCase random_case(std::uint64_t seed, bool shared_layout_fits = false);

/// y of an attention on a case; gradients of parameters, inputs and gates are left in place.
AttentionOut run(const Attention& attention, AttentionCase& c, AttentionAsk ask = {});

/// A small model of a kind; everything else by default.
ModelConfig small_config(ModelKind kind, Layout layout, bool norm_first = true);
constexpr auto all_layouts = all_of<Layout>();

/// A batch for any kind of model, and its loss.
struct TinyBatch {
  Ids source, lengths, target, labels, classes;
};
TinyBatch tiny_batch(const ModelConfig& config, Rng& rng);
Tensor loss_of(Module& model, const TinyBatch& batch, HeadProbe* probe = nullptr);

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
