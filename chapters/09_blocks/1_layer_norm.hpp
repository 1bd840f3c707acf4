// Exercise 09/1: write layer_norm with its gradient.
//
//   Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Real epsilon)
//
// Each row of x (a token, C elements) is normalised on its own, then scaled and shifted:
//   mean = sum of x[c] / C                    variance = sum of (x[c] - mean)^2 / C
//   rstd = 1 / sqrt(variance + epsilon)       n[c] = (x[c] - mean) * rstd
//   y[c] = n[c] * weight[c] + bias[c]         (this line is in the file)
// and backwards, with g[c] = dy[c] * weight[c]:
//   dx[c] = rstd * (g[c] - mean(g) - n[c] * mean(g * n))     means over the C elements of the row
//   dweight[c] = sum over all rows of dy[c] * n[c]           dbias[c] = sum over all rows of dy[c]
// There are two gaps, one in normalised() and one in `backward`. In both of them, element c of row
// r of an array is array[r * columns + c]. In `backward` you have:
//   n, rstd, w        the normalised rows, 1 / deviation of each row, the weight [C]
//   dy                the gradient that arrives
//   dweight, dbias    [C], zeros at first
#pragma once

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
