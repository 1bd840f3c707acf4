// The one place that includes xtensor for the library's own files, with a shim for newer releases.
#pragma once

#if __has_include(<xtensor/containers/xadapt.hpp>)  // 0.26 moved its headers
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/core/xnoalias.hpp>
#include <xtensor/core/xoperation.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xoperation.hpp>
#endif

#include <array>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// n contiguous elements as a one-axis xtensor that borrows the memory.
template <class T>
auto flat(T* data, Index n) {
  const auto count = static_cast<std::size_t>(n);
  return xt::adapt(data, count, xt::no_ownership(), std::array<std::size_t, 1>{count});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
