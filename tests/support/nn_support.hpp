// Common code of the tests of the nn floor: random parameters, heads as blocks, random attention
// calls.
#pragma once

#include <map>
#include <optional>

#include "headroom/nn/models.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Tolerance of the contract for one function computed in two ways, values and gradients.
constexpr Real same_function = tolerance(1e-12, 2e-6);

/// |actual - expected| <= tolerance * max(1, max |expected|): values here are of the order of one,
/// and values that are zero in theory (the gradient of a softmax over one key) are rounding noise
/// of values of that order.
CloseTo same_numbers(const Array& expected, Real tolerance);

/// Sets every parameter to random values, because zeros and ones would hide errors.
void randomise(Module& module, Rng& rng);
/// p -= rate * dL/dp: one step of plain gradient descent.
void descend(Module& module, Real rate);

/// The heads of a set, given as bits: heads_in(0b101) = {0, 2}.
std::vector<Index> heads_in(unsigned set);

/// The blocks of an attention's parameters (or of their gradients) by role and original head.
using HeadBlocks = std::map<std::pair<HeadRole, Index>, Array>;
HeadBlocks head_values(Attention& attention);
HeadBlocks head_gradients(Attention& attention);
/// Sets the blocks by role and head, in any layout.
void set_head_values(Attention& attention, const HeadBlocks& blocks);
/// Checks blocks of both: equal roles and heads, equal numbers at scale; the key bias, whose
/// gradient is rounding noise, by absolute difference.
void check_same_blocks(const HeadBlocks& actual, const HeadBlocks& expected, Real tolerance);

/// One call of an attention with all its variable parts drawn at random.
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
