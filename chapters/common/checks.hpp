// Checks of an exercise: values and gradients of a function that the learner wrote. The checks of
// an exercise are Catch2 test cases, one per stage; a stage that fails says in one sentence what is
// wrong, and no answer can end the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

namespace chapter {

/// Every stage runs once for each of these seeds.
inline constexpr std::uint64_t seeds[] = {1, 2, 3, 4, 5};

/// Largest difference of two elements that count as equal, relative to max(1, |expected|).
inline constexpr headroom::Real tolerance =
    headroom::is_double ? headroom::Real(1e-10) : headroom::Real(2e-5);

/// A mistake that learners make, and the result that it gives. When the result of an answer is
/// exactly this one, the message adds "It looks as if ...".
struct Hypothesis {
  const char* looks_as_if;
  std::function<headroom::Array()> result;
};

/// The sentence that says how `yours` differs from `expected`, or an empty text when they agree.
/// Shapes are compared first. It names `what` (plural: "the values"), the worst element, a constant
/// factor between the two, and every hypothesis that gives the same result.
std::string difference(const std::string& what, const headroom::Array& expected,
                       const headroom::Array& yours,
                       const std::vector<Hypothesis>& hypotheses = {});

/// A call of the function under test.
using Call = std::function<headroom::Tensor()>;

/// Fails unless the call returns a tensor with the expected values. Exceptions of any type fail
/// with their message.
void require_values(const Call& call, const headroom::Array& expected,
                    const std::vector<Hypothesis>& hypotheses = {});

/// An input of the call, as a parameter without a gradient, and the gradient that it must get.
struct Input {
  const char* name;
  headroom::Tensor tensor;
  headroom::Array gradient;
  std::vector<Hypothesis> hypotheses = {};
};

/// Runs the call and its backward pass from dL/dy = `dy`. Fails with a sentence of its own when the
/// result has another shape than dy, when it is not recorded on the tape, when an input gets no
/// gradient or one of another shape, and when a gradient differs from the expected one.
void require_gradients(const Call& call, const headroom::Array& dy,
                       const std::vector<Input>& inputs);

/// Normal random values.
headroom::Array random_array(const headroom::Shape& shape, headroom::Rng& rng);

}  // namespace chapter
