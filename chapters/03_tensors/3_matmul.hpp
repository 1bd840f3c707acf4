// Exercise 03/3: write the matrix product with its gradients.
//
//   Tensor matmul(const Tensor& a, const Tensor& b)       y = a b, for a [M, K] and b [K, N]
//
//   da = dy b^T        db = a^T dy
//
// Both may have more axes in front, which broadcast: [B, M, K] and [K, N] give [B, M, N], one
// product for each batch. Then db is a sum over the batches. You have, for arrays, which are not on
// the tape:
//
//   matmul(Array, Array)       the product, with axes in front as above; throws if the sizes differ
//   transposed(Array)          the last two axes exchanged: [B, M, N] -> [B, N, M]
//   sum_to(Array, Shape)       your exercise 03/2
//   a.value(), a.shape()       the array of a tensor, and its shape; arrays have shape(), too
//   record(op, y, {a, b}, backward)      into[0] is the gradient of a, into[1] that of b
//   into[0].wanted()           false if a needs no gradient; then it need not be computed
#pragma once

#include "common/answer.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/op_scope.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array sum_to(const Array& dy, const Shape& shape);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
