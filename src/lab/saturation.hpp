// How hard a softmax has decided. Private.
#pragma once

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Of all rows of attention weights [..., keys].
struct Saturation {
  /// The largest weight of every row is 1: the others together are less than half of its last bit,
  /// and add nothing to it.
  bool complete = true;
  /// The others are 0 to the last bit: the row passes no gradient, and its output is one value.
  bool one_hot = true;
};

Saturation saturation_of(const Array& weights);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
