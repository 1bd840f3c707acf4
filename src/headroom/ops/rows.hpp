// A tensor as rows of its last axis, for the kernels of softmax, norms and losses.
#pragma once

#include <fmt/format.h>

#include "headroom/array/array.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct Rows {
  Index rows, columns;
};

/// Throws ShapeError for a scalar, which has no last axis.
inline Rows rows_of(const OpScope& op, const Array& x) {
  if (x.rank() == 0) {
    throw ShapeError(fmt::format("{}: x [] is a single number; it needs a last axis", op.name()));
  }
  return {x.shape().without(-1).size(), x.dim(-1)};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
