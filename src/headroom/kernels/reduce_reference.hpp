// Folding an axis, the reference: xtensor's reducer for the sum, a plain loop by the real part for
// the extremes.
#pragma once

#include "kernels/reduce.hpp"
#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// The fold of the middle axis of x [outer, n, inner].
template <class S>
Matrix<S> fold_middle(Fold fold, const xt::xtensor<S, 3>& x) {
  if (fold == Fold::sum) return xt::sum(x, {1}, xt::evaluation_strategy::immediate);
  Matrix<S> y = xt::zeros<S>({x.shape(0), x.shape(2)});
  for (std::size_t o = 0; o < x.shape(0); ++o) {
    for (std::size_t i = 0; i < x.shape(2); ++i) {
      y(o, i) = x(o, 0, i);
      for (std::size_t j = 1; j < x.shape(1); ++j) {
        const double lead = real_part(x(o, j, i)) - real_part(y(o, i));
        if (fold == Fold::max ? lead > 0 : lead < 0) y(o, i) = x(o, j, i);
      }
    }
  }
  return y;
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
