// The shares of all heads of a layer, and what experiments do with them. Private.
#pragma once

#include <map>
#include <vector>

#include "headroom/nn/head_share.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The shares of all live heads, ascending. The output bias belongs to no head and is in none.
using HeadShares = std::vector<HeadShare>;
HeadShares shares_of(Attention& layer);

/// Writes the values of a share into the head that it names. Parts that it lacks keep theirs.
void set_values(Attention& layer, const HeadShare& share);
/// Sets the parameters of one role to zero in all heads.
void set_to_zero(Attention& layer, HeadRole role);
/// Multiplies all gradients of one head.
void scale_gradient(Attention& layer, Index head, Real factor);

/// The values of some parts of a head, or their gradients.
using HeadArrays = std::map<HeadPart, Array>;
/// Euclidean norm of all parts together.
double norm(const HeadArrays& parts);
/// max |a - b| over all parts.
double largest_difference(const HeadArrays& a, const HeadArrays& b);
/// after - before of the values of every head; both have the same heads and parts.
HeadShares change(const HeadShares& before, const HeadShares& after);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
