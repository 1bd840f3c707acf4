// Softmax over the rows of a matrix, with its logarithm, its masked form and their gradients.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// y_rc = e^(x_rc - max_r) / sum_c e^(x_rc - max_r)
void softmax(const Real* x, Index rows, Index columns, Real* y);
/// dx_rc (+)= y_rc (dy_rc - sum_c y_rc dy_rc); `add` tells whether dx has a sum already. Where y is
/// 0, as masked_softmax makes it, dx is 0 and dy is not touched.
void softmax_backward(const Real* y, const Real* dy, Index rows, Index columns, bool add, Real* dx);

/// Softmax over the entries where `allowed` is 1; 0 elsewhere, and in a row with nothing allowed.
/// A NaN among the allowed ones makes the whole row NaN.
void masked_softmax(const Real* x, const std::uint8_t* allowed, Index rows, Index columns, Real* y);

/// y_rc = x_rc - log sum_c e^x_rc
void log_softmax(const Real* x, Index rows, Index columns, Real* y);
/// dx_rc (+)= dy_rc - e^y_rc sum_c dy_rc
void log_softmax_backward(const Real* y, const Real* dy, Index rows, Index columns, bool add,
                          Real* dx);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
