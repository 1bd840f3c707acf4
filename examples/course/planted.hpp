// Planted faults for the experiments of chapter 02: operations whose values are right, and whose
// backward pass is another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "range.hpp"

inline constexpr std::uint64_t seeds = 5;

template <class F>
headroom::Array each(const headroom::Array& x, F formula) {
  headroom::Array result(x.shape());
  for (headroom::Index i = 0; i < x.size(); ++i) result[i] = formula(x[i], i);
  return result;
}

/// Values that are right, with another backward pass: dx from dy, x and y.
using WrongBackward = std::function<headroom::Array(
    const headroom::Array& dy, const headroom::Array& x, const headroom::Array& y)>;

inline headroom::Tensor with_backward(const char* name, const headroom::Tensor& x,
                                      const headroom::Array& y, const WrongBackward& backward) {
  const headroom::OpScope op(name);
  return headroom::record(op, y, {x},
                          [=, x = x.value()](const headroom::Array& dy, headroom::Gradients& into) {
                            into[0] += backward(dy, x, y);
                          });
}

using Function = std::function<headroom::Tensor(const std::vector<headroom::Tensor>&)>;

/// The largest |analytic - numeric| of all elements of all inputs, when dL/dy is `dy`: one pass
/// over inputs without a gradient, and differences with four points.
inline double largest_error(const Function& function, const std::vector<headroom::Array>& inputs,
                            const headroom::Array& dy) {
  std::vector<headroom::Tensor> leaves;
  for (const headroom::Array& x : inputs) leaves.push_back(headroom::parameter(x.clone()));
  const headroom::Tensor y = function(leaves);
  if (y.requires_grad()) y.backward(dy);
  double worst = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (headroom::Index e = 0; e < inputs[i].size(); ++e) {
      const auto loss = [&](double by) {
        const headroom::NoGrad no_tape;
        std::vector<headroom::Tensor> moved;
        for (const headroom::Array& x : inputs) moved.emplace_back(x.clone());
        moved[i].edit_value()[e] += by;
        const headroom::Array value = function(moved).value();
        double sum = 0;
        for (headroom::Index k = 0; k < value.size(); ++k) sum += dy[k] * value[k];
        return sum;
      };
      constexpr double h = 1e-3;
      const double numeric = (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h);
      const headroom::Array gradient = leaves[i].grad();
      worst = std::max(worst, std::abs(numeric - (gradient.defined() ? gradient[e] : 0)));
    }
  }
  return worst;
}
