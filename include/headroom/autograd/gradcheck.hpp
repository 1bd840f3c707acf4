// gradcheck: compares the gradient that an operation computes with differences of its values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Settings of gradcheck(). Every operation of the library passes with the defaults. In float they
/// are coarse: differences of floats have about three correct digits.
struct GradcheckOptions {
  int cotangents = 2;  // random dL/dy to try; never ones: sum(softmax(x)) is flat everywhere
  Real step = is_double ? Real(1e-3) : Real(1e-2);  // h, times max(1, |x|)
  Real relative = is_double ? Real(1e-6) : Real(1e-2);
  Real absolute = is_double ? Real(1e-9) : Real(1e-3);
  Index full_up_to = 200;   // with more input elements, random directions instead of each element
  int directions = 20;      // how many of those
  std::uint64_t seed = 20;  // of cotangents and directions
};

/// The verdict, and the worst comparison.
struct GradcheckResult {
  bool passed = true;
  /// |analytic - numeric| / (absolute + relative * larger of both): above 1 fails.
  Real worst = 0;
  Index input = -1;    // which input; -1 when a direction through all inputs was compared
  Index element = -1;  // which of its elements, row-major
  Real analytic = 0;   // dL/dx as backward() has it
  Real numeric = 0;    // dL/dx from values alone
  Index compared = 0;  // number of comparisons
  std::string text() const;
};

/// Compares backward() with differences of values, for L = sum(cotangent * function(inputs)):
///
///   dL/dx = (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h + O(h^4)
///
/// (Abramowitz and Stegun, 25.3.6), for every element of every input, or for random directions when
/// there are many. From the second cotangent on the inputs have a gradient already, which must be
/// added to. `function` must be smooth within 2h of the inputs: stay away from kinks and ties.
///
///   auto result = gradcheck([](const std::vector<Tensor>& x) { return tanh(x[0]); }, {x});
///
/// Throws UsageError when an operation adds nothing to the gradient of an input (Tensor::backward),
/// and in float for steps below 0.01, whose rounding errors are larger than the tolerance.
GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                          const std::vector<Array>& inputs, const GradcheckOptions& options = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
