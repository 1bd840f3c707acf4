// Comparisons that explain themselves.
#include "common/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "common/todo.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/reductions.hpp"

namespace chapter {

namespace {

/// NaN differs from everything, NaN included.
bool differ(Real expected, Real yours) {
  return !(std::abs(double(expected - yours)) <=
           tolerance * std::max(1.0, std::abs(double(expected))));
}

bool agree(const Array& expected, const Array& yours) {
  if (!yours.defined() || yours.shape() != expected.shape()) return false;
  for (Index i = 0; i < expected.size(); ++i) {
    if (differ(expected[i], yours[i])) return false;
  }
  return true;
}

/// The wrong elements, and the worst of them. A NaN is worst.
struct Wrong {
  Index count = 0, worst = 0;
};

Wrong wrong_elements(const Array& expected, const Array& yours) {
  Wrong wrong;
  Real largest = -1;
  for (Index i = 0; i < expected.size(); ++i) {
    if (!differ(expected[i], yours[i])) continue;
    ++wrong.count;
    const Real distance = std::abs(expected[i] - yours[i]);
    if (std::isnan(largest) || distance <= largest) continue;
    largest = distance;
    wrong.worst = i;
  }
  return wrong;
}

std::string axis_name(const Names& names, int axis) {
  const auto i = std::size_t(axis);
  return i < names.axes.size() ? names.axes[i] : fmt::format("axis {}", axis);
}

/// "batch 0, token 1, channel 5"
std::string place(const Shape& shape, Index element, const Names& names) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const char* colon = std::size_t(axis) < names.axes.size() ? "" : ":";
    text = fmt::format("{}{} {}{}{}", axis_name(names, axis), colon, element % shape[axis],
                       text.empty() ? "" : ", ", text);
    element /= shape[axis];
  }
  return text;
}

/// At most four rows and columns around the worst element; wrong ones have an asterisk.
std::string side_by_side(const Array& expected, const Array& yours, Index worst) {
  const Index columns = expected.rank() == 0 ? 1 : expected.dim(-1);
  const Index rows = expected.size() / columns;
  const Index first_row = std::max<Index>(0, std::min(worst / columns - 1, rows - 4));
  const Index first = std::max<Index>(0, std::min(worst % columns - 1, columns - 4));
  const Index shown = std::min<Index>(4, columns - first);
  std::string text = fmt::format("\n     {:<{}} {}", "expected", 8 * shown + 3, "yours");
  for (Index r = first_row; r < std::min(rows, first_row + 4); ++r) {
    std::string left, right;
    for (Index c = first; c < first + shown; ++c) {
      const Index i = r * columns + c;
      left += fmt::format("{:7.3f} ", expected[i]);
      right += fmt::format("{:7.3f}{}", yours[i], differ(expected[i], yours[i]) ? '*' : ' ');
    }
    text += fmt::format("\n   [ {}]  [ {}]", left, right);
  }
  return text;
}

/// The factor between the two when it is the same for all elements (and is not 1).
std::optional<double> constant_factor(const Array& expected, const Array& yours) {
  Real products = 0, squares = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    products += expected[i] * yours[i];
    squares += expected[i] * expected[i];
  }
  const Real factor = products / squares;
  for (Index i = 0; i < expected.size(); ++i) {
    if (differ(factor * expected[i], yours[i])) return std::nullopt;
  }
  return double(factor);
}

/// ", which is sqrt(D)" for a number of one of the sizes.
std::string origin_of(double factor, const Names& names) {
  for (const auto& [name, size] : names.sizes) {
    const auto is = [&](double value) { return std::abs(factor - value) < 1e-6 * value; };
    if (size <= 1) continue;
    if (is(size)) return fmt::format(", which is {}", name);
    if (is(std::sqrt(size))) return fmt::format(", which is sqrt({})", name);
  }
  return "";
}

std::string about_factor(double factor, const Names& names) {
  if (std::abs(factor) <= tolerance) return "All of them are 0.";
  if (std::abs(factor + 1) <= 1e-6) return "The sign is flipped.";
  const double size = std::abs(factor);
  return fmt::format("They are right but for a constant factor: {}{:.6g} times too {}{}.",
                     factor < 0 ? "the sign is flipped, and they are " : "",
                     size > 1 ? size : 1 / size, size > 1 ? "large" : "small",
                     origin_of(size > 1 ? size : 1 / size, names));
}

/// The sentence that two axes are exchanged, or "".
std::string about_exchanged_axes(const Array& expected, const Array& yours, const Names& names) {
  for (int a = 0; a < expected.rank(); ++a) {
    for (int b = a + 1; b < expected.rank(); ++b) {
      if (agree(expected, headroom::transposed(yours, a, b))) {
        return fmt::format("Your result is right after exchanging two axes, {} and {}.",
                           axis_name(names, a), axis_name(names, b));
      }
    }
  }
  return "";
}

/// The sentence that the slices along an axis are in another order, or "".
std::string about_order(const Array& expected, const Array& yours, const Names& names) {
  for (int axis = 0; axis < expected.rank(); ++axis) {
    const Index n = expected.dim(axis);
    std::vector<Index> order;
    for (Index i = 0; i < n && std::ssize(order) == i; ++i) {
      const Array slice = headroom::slice(yours, {axis, i, i + 1});
      for (Index j = 0; j < n; ++j) {
        if (!agree(headroom::slice(expected, {axis, j, j + 1}), slice)) continue;
        order.push_back(j);
        break;
      }
    }
    if (std::ssize(order) != n) continue;
    const std::string name = axis_name(names, axis);
    if (std::all_of(order.begin(), order.end(), [&](Index i) { return i == order.front(); })) {
      return fmt::format("Every {} has the result of {} {}.", name, name, order.front());
    }
    return fmt::format("The elements along the axis \"{}\" are right, but in the order {}.", name,
                       fmt::join(order, ", "));
  }
  return "";
}

/// The sentence that only one slice along an axis is wrong, or "".
std::string about_one_slice(const Array& expected, const Array& yours, const Names& names) {
  for (int axis = 0; axis < expected.rank(); ++axis) {
    std::vector<Index> wrong;
    for (Index i = 0; i < expected.dim(axis); ++i) {
      const headroom::AxisRange part{axis, i, i + 1};
      if (!agree(headroom::slice(expected, part), headroom::slice(yours, part))) wrong.push_back(i);
    }
    if (wrong.size() != 1 || expected.dim(axis) < 3) continue;
    const char* which = wrong[0] == 0                        ? ", the first one,"
                        : wrong[0] == expected.dim(axis) - 1 ? ", the last one,"
                                                             : "";
    return fmt::format("Only {} {}{} is wrong.", axis_name(names, axis), wrong[0], which);
  }
  return "";
}

std::string generic_explanation(const Array& expected, const Array& yours, const Names& names) {
  if (const auto factor = constant_factor(expected, yours)) return about_factor(*factor, names);
  for (const auto explain : {about_exchanged_axes, about_order, about_one_slice}) {
    const std::string text = explain(expected, yours, names);
    if (!text.empty()) return text;
  }
  return "";
}

/// The hypotheses that give the same result as the answer, each as a line.
std::string explanations(const Array& yours, const std::vector<Hypothesis>& hypotheses) {
  std::string text;
  for (const Hypothesis& hypothesis : hypotheses) {
    try {
      if (agree(hypothesis.result(), yours)) {
        const std::string guess = fmt::format("\nIt looks as if {}.", hypothesis.looks_as_if);
        if (text.find(guess) == std::string::npos) text += guess;  // several ways to one mistake
      }
    } catch (const headroom::Error&) {  // the mistake is not possible here
    }
  }
  return text;
}

/// The message for two shapes.
std::string wrong_shape(const std::string& subject, const Array& expected, const Array& yours,
                        const Names& names, const std::vector<Hypothesis>& hypotheses) {
  std::string text = fmt::format("{} have the shape {}, expected {}", subject, yours.shape().text(),
                                 expected.shape().text());
  if (!names.axes.empty()) text += fmt::format(": {}", fmt::join(names.axes, ", "));
  text += '.' + explanations(yours, hypotheses);
  if (yours.rank() != expected.rank()) return text;
  const std::string exchanged = about_exchanged_axes(expected, yours, names);
  return exchanged.empty() ? text : text + '\n' + exchanged;
}

/// The result of a call; fails when there is none or its shape is not the expected one.
Tensor result_of(const Call& call, const Array& expected, const Names& names,
                 const std::vector<Hypothesis>& hypotheses) {
  Tensor y = call();
  require(y.defined(), "the function returned an undefined tensor: it needs a value.");
  require(y.shape() == expected.shape(),
          wrong_shape("the values", expected, y.value(), names, hypotheses));
  return y;
}

}  // namespace

void require(bool holds, const std::string& sentence) {
  if (!holds) FAIL(sentence);
  SUCCEED();
}

std::string difference(const std::string& subject, const Array& expected, const Array& yours,
                       const Names& names, const std::vector<Hypothesis>& hypotheses) {
  if (!yours.defined()) return fmt::format("{} are missing.", subject);
  if (yours.shape() != expected.shape()) {
    return wrong_shape(subject, expected, yours, names, hypotheses);
  }
  const Wrong wrong = wrong_elements(expected, yours);
  if (wrong.count == 0) return "";
  std::string text =
      fmt::format("{} are wrong: {} of {} elements differ, most at {}.", subject, wrong.count,
                  expected.size(), place(expected.shape(), wrong.worst, names));
  text += side_by_side(expected, yours, wrong.worst);
  const std::string specific = explanations(yours, hypotheses);
  if (!specific.empty()) return text + specific;
  const std::string generic = generic_explanation(expected, yours, names);
  return generic.empty() ? text : text + '\n' + generic;
}

void require_equal(const std::string& subject, const Array& expected, const Array& yours,
                   const Names& names, const std::vector<Hypothesis>& hypotheses) {
  const std::string text = difference(subject, expected, yours, names, hypotheses);
  require(text.empty(), text);
}

void require_values(const Call& call, const Array& expected, const Names& names,
                    const std::vector<Hypothesis>& hypotheses) {
  const Tensor y = result_of(call, expected, names, hypotheses);
  require_equal("the values", expected, y.value(), names, hypotheses);
}

void require_gradients(const Call& call, const Array& dy, const std::vector<Input>& inputs,
                       const Names& names) {
  const Tensor y = result_of(call, dy, names, {});
  require(y.requires_grad(),
          "the result is not recorded on the tape: return record(op, y, {inputs}, backward).");
  // The other operation is younger than the answer's, so its gradients arrive first.
  headroom::Rng rng(1, "gradients that are there before");
  std::vector<Array> before;
  Tensor loss = sum(y * Tensor(dy));
  for (const Input& input : inputs) {
    before.push_back(random_array(input.tensor.shape(), rng));
    loss = loss + sum(input.tensor * Tensor(before.back()));
  }
  std::string refused;
  try {
    loss.backward();
  } catch (const headroom::ShapeError& error) {
    FAIL("a gradient has another shape than its input. (The library: " << error.what() << ")");
  } catch (const headroom::Error& error) {
    refused = error.what();  // an input without a gradient, which gets its own sentence
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    const Array all = input.tensor.grad();
    Array own = zeros(input.tensor.shape());
    for (Index j = 0; all.defined() && j < own.size(); ++j) own[j] = all[j] - before[i][j];
    require(!agree(zeros(own.shape()), own) || agree(input.gradient, own),
            fmt::format("no gradient arrived at {}: the backward closure does not add to its "
                        "slot.{}",
                        input.name, refused.empty() ? "" : " (The library: " + refused + ")"));
    require(!agree(input.gradient, all),
            fmt::format("the gradient of {} was replaced, not added to: what another operation had "
                        "added before is lost.",
                        input.name));
    Names of_input = names;
    if (!input.axes.empty()) of_input.axes = input.axes;
    require_equal(fmt::format("the elements of the gradient of {}", input.name), input.gradient,
                  own, of_input, input.hypotheses);
  }
  require(refused.empty(), "the backward pass was refused: " + refused);
}

Array random_array(const Shape& shape, headroom::Rng& rng) {
  return headroom::normal(shape, 1, rng);
}

}  // namespace chapter
