// Saturation of a softmax. Private.
#pragma once

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Saturation of all rows of attention weights [..., keys].
struct Saturation {
  /// The maximum of every row is 1: the other weights together are less than half of its last bit.
  bool complete = true;
  /// The other weights are exactly 0: the row passes no gradient, and its output is the value of
  /// one key.
  bool one_hot = true;
};

Saturation saturation_of(const Array& weights);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
