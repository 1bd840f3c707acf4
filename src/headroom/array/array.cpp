// The non-template parts of Array.
#include "headroom/array/array.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace detail {
void throw_wrong_count(const char* what, const Shape& shape, Index count) {
  throw ShapeError(fmt::format("{}: {} elements do not fill shape {}, which takes {}", what, count,
                               shape.text(), shape.size()));
}

void throw_wrong_index(const Shape& shape, Index index) {
  throw ShapeError(fmt::format("index {} of an array of {} elements, shape {}", index, shape.size(),
                               shape.text()));
}

void throw_undefined_array() {
  throw UsageError(
      "an element of an undefined array: grad() is undefined before backward() has reached the "
      "tensor, and so is the memory of an optimizer that keeps none; ask defined() first");
}
}  // namespace detail

Array zeros(const Shape& shape) { return {shape, Real(0)}; }
Array ones(const Shape& shape) { return {shape, Real(1)}; }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
