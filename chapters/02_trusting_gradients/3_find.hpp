// Exercise 02/3, find the mistakes: 3_find.cpp has three operations. All values are right, and each
// has one mistake in its gradient. Make the checks pass; they run gradcheck, yours if you have
// written it.
//
//   Tensor mean_of_rows(const Tensor& x)                    y[c] = 1/T sum over t of x[t][c]
//   Tensor scale(const Tensor& x, const Tensor& s)          y[t][c] = x[t][c] s[c]
//   Tensor preference(const Tensor& a, const Tensor& b)     y[i] = log(1 + e^(b[i] - a[i]))
//
// x is [T, C], s is [C]. The last one is the loss of a pair: people preferred text a to text b, and
// a model gave them the marks a[i] and b[i] (Bradley and Terry, 1952). Its derivative by b is
// p = 1 / (1 + e^(a - b)), the probability that the model gives to the wrong choice.
#pragma once

#include "common/answer.hpp"
#include "headroom/base/op_scope.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor mean_of_rows(const Tensor& x);
Tensor scale(const Tensor& x, const Tensor& s);
Tensor preference(const Tensor& a, const Tensor& b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
