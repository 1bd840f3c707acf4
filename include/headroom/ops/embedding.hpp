// Table look-up.
#pragma once

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Rows of table [V, C] by number: ids [...] -> [..., C]. The gradient adds up over equal ids.
/// Throws ShapeError, or UsageError for an id outside [0, V). Unfused: composed::embedding.
Tensor embedding(const Tensor& table, const Ids& ids);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
