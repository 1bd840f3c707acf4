// gradcheck by a four-point stencil with random cotangents.
#include "headroom/autograd/gradcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;
using Arrays = std::vector<Array>;

Array random_like(const Array& like, Rng& rng) {
  Array result(like.shape());
  for (Real& x : result.span()) x = rng.normal();
  return result;
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum;
}

/// The inputs moved by t along `direction`, as fresh tensors.
std::vector<Tensor> moved(const Arrays& inputs, const Arrays& direction, Real t) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array x = inputs[i].clone();
    for (Index e = 0; e < x.size(); ++e) x[e] += t * direction[i][e];
    tensors.emplace_back(std::move(x));
  }
  return tensors;
}

/// dy/dt along a direction, by the four-point stencil: one for each element of y.
Array slope(const Function& function, const Arrays& inputs, const Arrays& direction, Real h) {
  const NoGrad no_grad;
  const auto y = [&](Real t) { return function(moved(inputs, direction, t)).value(); };
  const Array plus = y(h), minus = y(-h), plus_2 = y(2 * h), minus_2 = y(-2 * h);
  Array result(plus.shape());
  for (Index i = 0; i < result.size(); ++i) {
    result[i] = (Real(8) * (plus[i] - minus[i]) - (plus_2[i] - minus_2[i])) / (Real(12) * h);
  }
  return result;
}

/// dL/dinputs by backward(), added to the gradients in `before` (which are subtracted again).
Arrays backward_gradients(const Function& function, const Arrays& inputs, const Array& cotangent,
                          const Arrays& before) {
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    leaves.push_back(parameter(inputs[i].clone()));
    if (!before.empty()) leaves.back().set_grad(before[i].clone());
  }
  const Tensor y = function(leaves);
  if (y.requires_grad()) y.backward(cotangent);
  Arrays gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array gradient =
        leaves[i].grad().defined() ? leaves[i].grad().clone() : zeros(inputs[i].shape());
    if (!before.empty()) {
      for (Index e = 0; e < gradient.size(); ++e) gradient[e] -= before[i][e];
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

void compare(GradcheckResult& result, const GradcheckOptions& options, Index input, Index element,
             double analytic, double numeric) {
  const double allowed = double(options.absolute) +
                         double(options.relative) * std::max(std::abs(analytic), std::abs(numeric));
  const double error = std::abs(analytic - numeric) / allowed;
  ++result.compared;
  if (error <= double(result.worst) || std::isnan(result.worst)) return;
  result.worst = Real(error);
  result.input = input;
  result.element = element;
  result.analytic = Real(analytic);
  result.numeric = Real(numeric);
  if (!(error <= 1)) result.passed = false;
}

}  // namespace

GradcheckResult gradcheck(const Function& function, const std::vector<Array>& inputs,
                          const GradcheckOptions& options) {
  if (!is_double && !(options.step >= Real(0.01))) {
    throw UsageError(fmt::format(
        "gradcheck: with the step {} differences of floats are rounding errors; use a step of at "
        "least 0.01, or build against headroom::headroom_f64",
        options.step));
  }
  Rng rng(options.seed, "gradcheck");
  std::vector<Tensor> leaves;
  for (const Array& input : inputs) leaves.push_back(parameter(input.clone()));
  const Array y = function(leaves).value();

  Arrays cotangents;
  std::vector<Arrays> analytic;
  for (int c = 0; c < options.cotangents; ++c) {
    cotangents.push_back(random_like(y, rng));
    Arrays before;
    for (const Array& input : inputs) {
      if (c > 0) before.push_back(random_like(input, rng));
    }
    analytic.push_back(backward_gradients(function, inputs, cotangents.back(), before));
  }

  GradcheckResult result;
  Index numbers = 0;
  for (const Array& input : inputs) numbers += input.size();
  if (numbers <= options.full_up_to) {
    Arrays direction;
    for (const Array& input : inputs) direction.push_back(zeros(input.shape()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (Index e = 0; e < inputs[i].size(); ++e) {
        direction[i][e] = Real(1);
        const Real h = options.step * std::max(Real(1), std::abs(inputs[i][e]));
        const Array dy = slope(function, inputs, direction, h);
        direction[i][e] = Real(0);
        for (std::size_t c = 0; c < cotangents.size(); ++c) {
          compare(result, options, Index(i), e, double(analytic[c][i][e]), dot(cotangents[c], dy));
        }
      }
    }
    return result;
  }
  for (int d = 0; d < options.directions; ++d) {
    Arrays direction;
    for (const Array& input : inputs) direction.push_back(random_like(input, rng));
    const Array dy = slope(function, inputs, direction, options.step);
    for (std::size_t c = 0; c < cotangents.size(); ++c) {
      double along = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i) along += dot(analytic[c][i], direction[i]);
      compare(result, options, -1, -1, along, dot(cotangents[c], dy));
    }
  }
  return result;
}

std::string GradcheckResult::text() const {
  const std::string place = input < 0 ? std::string("along a random direction")
                                      : fmt::format("input {}, element {}", input, element);
  return fmt::format(
      "gradcheck {}: {} numbers compared; worst at {}: analytic {:.17g}, numeric {:.17g}, {:.3g} "
      "of the tolerance",
      passed ? "passed" : "failed", compared, place, analytic, numeric, worst);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
