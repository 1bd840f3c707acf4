// Gates that become part of the output projection.
#pragma once

#include <map>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Multiplies the output projections of live heads by their gates, W_O^h := g_h W_O^h: in every
/// layout that uses W_O^h only in y = sum_h g_h A_h W_O^h + b_O, the model without gates is then
/// the function that the model with gates was. Heads that are not listed keep their projections.
/// Gradients and an optimizer's moments do not change. Throws UsageError, before anything changes,
/// for a head that is not alive and for a gate that is not finite.
void fold_gates(Module& model, const std::map<HeadId, double>& gates);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
