// The bridge to xtensor, for programs that use both: an Array seen as an xtensor, and back. The
// only public header that includes xtensor; link the CMake target headroom::xtensor for it.
#pragma once

#if __has_include(<xtensor/containers/xadapt.hpp>)  // 0.26 moved its headers
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xnoalias.hpp>
#endif

#include <vector>

#include "headroom/array/array.hpp"

namespace headroom::inline HEADROOM_PRECISION {

/// The array's own memory as an xtensor adaptor of the same shape: nothing is copied, and what is
/// written through the view is written into the array (and into all arrays that share its buffer).
/// Holds for Array, Ids and Bytes. The view is valid as long as the array lives.
template <class T>
auto view(ArrayOf<T>& array) {
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  return xt::adapt(array.data(), static_cast<std::size_t>(array.size()), xt::no_ownership(), shape);
}

/// The same, read-only.
template <class T>
auto view(const ArrayOf<T>& array) {
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  return xt::adapt(array.data(), static_cast<std::size_t>(array.size()), xt::no_ownership(), shape);
}

/// A view of a temporary would outlive its memory.
template <class T>
auto view(ArrayOf<T>&& array) = delete;
template <class T>
auto view(const ArrayOf<T>&& array) = delete;

/// A new Array with the values of an xtensor expression. Throws ShapeError for more than six axes.
/// Reducers inside the expression need xt::evaluation_strategy::immediate: `e / xt::sum(e, ...)`
/// with a lazy sum is wrong in xtensor itself.
template <class E>
Array to_array(const xt::xexpression<E>& expression) {
  const E& values = expression.derived_cast();
  const std::vector<Index> sizes(values.shape().begin(), values.shape().end());
  Array result{Shape(std::span<const Index>(sizes))};
  auto target = view(result);
  xt::noalias(target) = values;
  return result;
}

}  // namespace headroom::inline HEADROOM_PRECISION
