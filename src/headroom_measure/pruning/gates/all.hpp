// The methods that learn gates, each family in a file of its name. Private.
#pragma once

#include "headroom_measure/pruning/gate_methods.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// GateMethodEntry::make of a method.
template <class Method>
std::unique_ptr<GateMethod> make_gates(const GateOptions& options) {
  return std::make_unique<Method>(options);
}

GateMethodEntry gates_hard_concrete();
GateMethodEntry gates_subset();
GateMethodEntry gates_subset_top_k();
GateMethodEntry gates_movement();
GateMethodEntry gates_frozen();
GateMethodEntry gates_frozen_top_k();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
