// Exercise 05/4: write the gradient of attention in plain loops. The forward pass is there.
//
//   P = softmax(scale q k^T, over the allowed keys)    y = P v           for each head
//
// For one query i of one head, with dy [Dv], and the sums over the allowed keys j:
//   dv[j] += P[i, j] dy                                dP[j] = dy . v[j]
//   mean = sum over j of P[i, j] dP[j]                 dS[j] = P[i, j] (dP[j] - mean)
//   dq += scale sum over j of dS[j] k[j]               dk[j] += scale dS[j] q
// You have, as x(b, h, t, d): feature d of token t (a query i or a key j), for head h of example b:
//   q, k, v, dy          to read
//   dq, dk, dv           to add to, 0 at first
//   P(b, h, i, j)        the weights                 allowed(b, h, i, j)    1 or 0
//   sizes                .batch .heads .queries .keys .head_dim .value_dim .scale
// A key that is not allowed is not read, not even to multiply it by 0: it may be NaN. For dP of one
// row, Array dp = zeros({sizes.keys}) has the elements dp[j]. Use no other operations: loops are
// the point.
#pragma once

#include "given.hpp"
