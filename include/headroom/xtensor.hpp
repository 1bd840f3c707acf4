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

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace detail {
/// The sizes as the vector or array that xtensor takes for a dynamic or a fixed rank.
template <class Sizes>
Sizes xtensor_sizes(const Shape& shape, Sizes sizes) {
  std::copy(shape.begin(), shape.end(), sizes.begin());
  return sizes;
}

[[noreturn]] inline void throw_wrong_rank(int rank, const Shape& shape) {
  throw ShapeError("view: asked for " + std::to_string(rank) + " axes of an array of shape " +
                   shape.text());
}

template <int Rank, class T>
auto view_memory(T* data, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.size());
  if constexpr (Rank < 0) {
    std::vector<std::size_t> sizes(static_cast<std::size_t>(shape.rank()));
    return xt::adapt(data, count, xt::no_ownership(), xtensor_sizes(shape, sizes));
  } else {
    if (shape.rank() != Rank) throw_wrong_rank(Rank, shape);
    return xt::adapt(
        data, count, xt::no_ownership(),
        xtensor_sizes(shape, std::array<std::size_t, static_cast<std::size_t>(Rank)>{}));
  }
}
}  // namespace detail

/// The array's own memory as an xtensor adaptor of the same shape: nothing is copied, and what is
/// written through the view is written into the array (and into all arrays that share its buffer).
/// Works for Array, Ids and Bytes. The view is valid as long as the array exists.
///
/// `view<2>(array)` has its rank fixed and is the better one where the rank is known. Reducers need
/// it: under C++20 xtensor 0.24 crashes on xt::sum(..., xt::evaluation_strategy::immediate) and its
/// like over a view whose rank is dynamic. Throws ShapeError when the rank is another.
template <int Rank = -1, class T>
auto view(ArrayOf<T>& array) {
  return detail::view_memory<Rank>(array.data(), array.shape());
}

/// The same, read-only.
template <int Rank = -1, class T>
auto view(const ArrayOf<T>& array) {
  return detail::view_memory<Rank>(array.data(), array.shape());
}

/// A view of a temporary would outlive its memory.
template <int Rank = -1, class T>
auto view(ArrayOf<T>&& array) = delete;
template <int Rank = -1, class T>
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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
