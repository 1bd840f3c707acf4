// Planted faults for the experiments of chapter 02: operations whose values are right, and whose
// backward pass is another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "headroom/autograd/tape.hpp"

inline constexpr std::uint64_t seeds = 5;

/// The smallest and the largest value over five seeds.
struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) {  // NaN counts as infinite
    least = std::min(least, value);
    most = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::max(most, value);
  }
};

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
