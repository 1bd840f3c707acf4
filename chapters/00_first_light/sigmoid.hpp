// The contract of the exercise: write the library's sigmoid.
#pragma once

#include "common/exercise.hpp"
#include "headroom/autograd/tape.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// s = 1 / (1 + e^-x) for each element of x, on the tape, with ds/dx = s (1 - s).
Tensor sigmoid(const Tensor& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
