// The same attention in the layouts `separate` and `fused`, and its parts by the names they share.
// Private.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headroom/nn/attention.hpp"
#include "headroom/surgery/layout_conversion.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Both layouts, for loops over them.
inline constexpr Layout both_layouts[] = {Layout::separate, Layout::fused};

/// Two attentions that compute the same function.
struct TwinLayouts {
  std::unique_ptr<Attention> separate, fused;
  Attention& of(Layout layout) const { return layout == Layout::separate ? *separate : *fused; }
};

/// A new attention in the given layout with the heads of `source`.
std::unique_ptr<Attention> same_heads(Attention& source, Layout layout);

/// Draws an attention (Xavier weights, normal biases where there are any) in the layout `from` and
/// transplants it into the other one.
TwinLayouts twin_layouts(const AttentionConfig& config, Rng& rng, Layout from = Layout::separate);

/// Arrays that belong to the parameters of an attention with biases (gradients, moments), by part,
/// independent of the layout: self.query.weight [C, C], self.query.bias [C], likewise key and
/// value, output.dense.weight and output.dense.bias. `find` gives a parameter's array by the
/// parameter's name. Discards the gradients of the attention.
NamedArrays by_part(Attention& attention,
                    const std::function<const Array&(const std::string&)>& find);

/// The largest relative difference of two arrays of one name. Separate key biases are left out:
/// they have no effect, and their gradients and moments are rounding noise.
double parts_apart(const NamedArrays& a, const NamedArrays& b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
