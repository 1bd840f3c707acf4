// Exercise 02/2: write the function with which all gradients of this library are tested.
//
//   GradcheckResult gradcheck(const Function& function, const Arrays& inputs,
//                             const GradcheckOptions& options)
//
// For L = sum(dy * y) with y = function(inputs), it compares the gradient of each input element by
// backward() (analytic) with differences of L (numeric), for `cotangents` random dy. From the
// second one on the inputs have a gradient before the pass, which the pass must add to.
//
//   numeric    (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12h      L(t): one element moved by t
//   h          step * max(1, |x|)
//   error      |analytic - numeric| / (absolute + relative * max(|analytic|, |numeric|))
//
// passed: no error above 1, and none NaN. worst, input, element, analytic, numeric: the comparison
// with the largest error. compared: how many. Sums are double, also in float. You have:
//
//   random_like, dot, moved, value_of, backward_pass     below
#pragma once

#include "common/answer.hpp"
#include "headroom/autograd/gradcheck.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;
using Arrays = std::vector<Array>;

/// Normal random numbers in the shape of an array.
inline Array random_like(const Array& like, Rng& rng) {
  Array result(like.shape());
  for (Real& x : result.span()) x = rng.normal();
  return result;
}

/// The sum of a[i] b[i]; for several arrays, the sum over all of them.
inline double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum;
}
inline double dot(const Arrays& a, const Arrays& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// A copy of the inputs in which element e of input i is moved by t.
inline Arrays moved(const Arrays& inputs, std::size_t i, Index e, Real t) {
  Arrays copy = inputs;
  copy[i] = inputs[i].clone();
  copy[i][e] += t;
  return copy;
}
/// A copy of the inputs, all of them moved by t times the direction.
inline Arrays moved(const Arrays& inputs, const Arrays& direction, Real t) {
  Arrays copy;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    copy.push_back(inputs[i].clone());
    for (Index e = 0; e < copy[i].size(); ++e) copy[i][e] += t * direction[i][e];
  }
  return copy;
}

/// The function's value, without a tape.
inline Array value_of(const Function& function, const Arrays& inputs) {
  const NoGrad no_tape;
  std::vector<Tensor> x;
  for (const Array& input : inputs) x.emplace_back(input);
  return function(x).value();
}

/// One backward pass from dy over inputs that have the gradients `before`. Returns their gradients
/// after the pass: before + dL/dx if the operation is right.
inline Arrays backward_pass(const Function& function, const Arrays& inputs, const Arrays& before,
                            const Array& dy) {
  std::vector<Tensor> x;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    x.push_back(parameter(inputs[i].clone()));
    x.back().set_grad(before[i].clone());
  }
  const Tensor y = function(x);
  if (y.requires_grad()) y.backward(dy);
  Arrays after;
  for (const Tensor& leaf : x) after.push_back(leaf.grad().clone());
  return after;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
