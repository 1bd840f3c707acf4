// Checks of an exercise: comparisons that explain themselves, around answers that may throw.
#include "common/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "common/exercise.hpp"
#include "headroom/base/error.hpp"

namespace chapter {

using headroom::Array;
using headroom::Index;
using headroom::Real;
using headroom::Shape;
using headroom::Tensor;

namespace {

/// NaN differs from everything, NaN included.
bool differ(Real expected, Real yours) {
  return !(std::abs(expected - yours) <= tolerance * std::max<Real>(1, std::abs(expected)));
}

bool agree(const Array& expected, const Array& yours) {
  if (!yours.defined() || yours.shape() != expected.shape()) return false;
  for (Index i = 0; i < expected.size(); ++i) {
    if (differ(expected[i], yours[i])) return false;
  }
  return true;
}

/// " The element [1, 2] should be 0.25 and is 0.5." for the worst one, and how many differ.
std::string worst_element(const Array& expected, const Array& yours) {
  Index wrong = 0, worst = 0;
  Real largest = -1;
  for (Index i = 0; i < expected.size(); ++i) {
    if (!differ(expected[i], yours[i])) continue;
    ++wrong;
    const Real distance = std::abs(expected[i] - yours[i]);
    if (std::isnan(largest) || distance <= largest) continue;  // a NaN is worst
    largest = distance;
    worst = i;
  }
  std::string place;
  Index rest = worst;
  for (int axis = expected.rank() - 1; axis >= 0; --axis) {
    place = fmt::format("{}{}{}", rest % expected.dim(axis), place.empty() ? "" : ", ", place);
    rest /= expected.dim(axis);
  }
  return fmt::format("{} of {} differ, most at [{}]: expected {:.6g}, got {:.6g}.", wrong,
                     expected.size(), place, expected[worst], yours[worst]);
}

/// The factor between the two when it is the same for all elements (and is not 1); else NaN.
Real constant_factor(const Array& expected, const Array& yours) {
  Real products = 0, squares = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    products += expected[i] * yours[i];
    squares += expected[i] * expected[i];
  }
  const Real factor = products / squares;
  for (Index i = 0; i < expected.size(); ++i) {
    if (differ(factor * expected[i], yours[i])) return std::nan("");
  }
  return factor;
}

std::string about_factor(Real factor) {
  if (std::isnan(factor)) return "";
  if (std::abs(factor) <= tolerance) return " All of them are 0.";
  if (!differ(Real(-1), factor)) return " The sign is flipped.";
  return fmt::format(" They are right but for a constant factor: {:.6g} times as large.", factor);
}

/// The outcome of one call of the learner's code.
struct Outcome {
  std::string failure;  // empty: it returned
  bool library_refused = false, shape_refused = false;
};

/// Runs code of the learner. Nothing that it throws gets through.
Outcome run(const std::function<void()>& code) {
  try {
    code();
    return {};
  } catch (const NotImplemented& missing) {
    return {fmt::format("not implemented: {}", missing.what)};
  } catch (const headroom::ShapeError& error) {
    return {fmt::format("the library refused a shape: {}", error.what()), true, true};
  } catch (const headroom::Error& error) {
    return {fmt::format("the library refused a call: {}", error.what()), true};
  } catch (const std::exception& error) {
    return {fmt::format("your code was stopped by an exception: {}", error.what())};
  } catch (...) {
    return {"your code threw something that is not a std::exception"};
  }
}

/// The result of a call; fails when there is none or its shape is not the expected one.
Tensor result_of(const Call& call, const Shape& expected) {
  Tensor y;
  const Outcome outcome = run([&] { y = call(); });
  if (!outcome.failure.empty()) FAIL(outcome.failure);
  if (!y.defined()) FAIL("the function returned an undefined tensor: it needs a value");
  if (y.shape() != expected) {
    FAIL(fmt::format("the values have the shape {}, expected {}", y.shape().text(),
                     expected.text()));
  }
  return y;
}

}  // namespace

std::string difference(const std::string& what, const Array& expected, const Array& yours,
                       const std::vector<Hypothesis>& hypotheses) {
  if (!yours.defined()) return fmt::format("{} are missing", what);
  if (yours.shape() != expected.shape()) {
    return fmt::format("{} have the shape {}, expected {}", what, yours.shape().text(),
                       expected.shape().text());
  }
  if (agree(expected, yours)) return "";
  std::string text = fmt::format("{} are wrong: {}", what, worst_element(expected, yours));
  text += about_factor(constant_factor(expected, yours));
  for (const Hypothesis& hypothesis : hypotheses) {
    if (agree(hypothesis.result(), yours)) {
      text += fmt::format(" It looks as if {}.", hypothesis.looks_as_if);
    }
  }
  return text;
}

void require_values(const Call& call, const Array& expected,
                    const std::vector<Hypothesis>& hypotheses) {
  const Tensor y = result_of(call, expected.shape());
  const std::string text = difference("the values", expected, y.value(), hypotheses);
  if (!text.empty()) FAIL(text);
  SUCCEED();
}

void require_gradients(const Call& call, const Array& dy, const std::vector<Input>& inputs) {
  const Tensor y = result_of(call, dy.shape());
  if (!y.requires_grad()) {
    FAIL("the result is not recorded on the tape: return record(op, y, {inputs}, backward)");
  }
  const Outcome outcome = run([&] { y.backward(dy); });
  // A backward pass that the library refuses gets the sentence that fits the input, and then the
  // library's own words.
  const std::string words = outcome.failure.empty() ? "" : " (" + outcome.failure + ")";
  if (!outcome.failure.empty() && !outcome.library_refused) FAIL(outcome.failure);
  if (outcome.shape_refused) {
    FAIL("a gradient has another shape than its input" << words);
  }
  for (const Input& input : inputs) {
    if (!input.tensor.grad().defined()) {
      FAIL(fmt::format("no gradient arrived at {}: the backward closure never adds to its slot{}",
                       input.name, words));
    }
  }
  if (!outcome.failure.empty()) FAIL(outcome.failure);
  for (const Input& input : inputs) {
    const std::string text =
        difference(fmt::format("the elements of the gradient of {}", input.name), input.gradient,
                   input.tensor.grad(), input.hypotheses);
    if (!text.empty()) FAIL(text);
  }
  SUCCEED();
}

Array random_array(const Shape& shape, headroom::Rng& rng) {
  Array array(shape);
  for (Real& value : array.span()) value = rng.normal();
  return array;
}

}  // namespace chapter
