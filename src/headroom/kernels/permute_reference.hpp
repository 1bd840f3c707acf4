// Permuting axes and picking rows, the references: xtensor's transpose and views.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/reference.hpp"
#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xview.hpp>
#endif

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// Axis i of the result is axis order[i] of x.
template <class S>
xt::xarray<S> permute(const xt::xarray<S>& x, const std::vector<std::size_t>& order) {
  return xt::transpose(x, order);
}

/// x[:, positions, :] of x [outer, n, inner].
template <class S>
xt::xtensor<S, 3> gather(const xt::xtensor<S, 3>& x, const std::vector<std::int32_t>& positions) {
  return xt::view(x, xt::all(), xt::keep(positions), xt::all());
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
