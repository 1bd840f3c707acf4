// Comparisons that explain themselves.
#include "common/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "common/mistakes.hpp"
#include "common/todo.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/reductions.hpp"

namespace chapter {

namespace {

/// A number with one or two digits: "0.1", "3e-9".
std::string brief(double x) {
  std::string text = fmt::format("{:.2g}", x);
  for (const char* sign : {"e-0", "e+0"}) {
    const std::size_t zero = text.find(sign);
    if (zero != std::string::npos) text.erase(zero + 2, 1);
  }
  return text;
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

bool is_whole(Real x) { return x == std::floor(x); }

/// Whether all elements are whole numbers, as token ids are.
bool all_whole(const Array& array) {
  return std::all_of(array.span().begin(), array.span().end(), is_whole);
}

/// An element in seven characters; where `whole` numbers are expected, these have no decimals.
std::string cell(Real x, bool whole) {
  return whole && is_whole(x) ? fmt::format("{:7.0f}", x + Real(0)) : fmt::format("{:7.3f}", x);
}

/// ", by 3e-9" for two elements that look equal in a table, else "".
std::string invisible_difference(Real expected, Real yours, bool whole) {
  if (cell(expected, whole) != cell(yours, whole) || !std::isfinite(yours)) return "";
  return fmt::format(", by {}", brief(std::abs(double(yours) - double(expected))));
}

/// At most four rows and columns around the worst element; wrong ones have an asterisk.
std::string side_by_side(const Array& expected, const Array& yours, Index worst) {
  const bool whole = all_whole(expected);
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
      left += cell(expected[i], whole) + ' ';
      right += cell(yours[i], whole) + (differ(expected[i], yours[i]) ? '*' : ' ');
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

std::string about_factor(const Array& expected, const Array& yours, const Names& names) {
  const double factor = constant_factor(expected, yours).value_or(1);
  if (factor == 1) return "";
  if (std::abs(factor) <= tolerance) return "All of them are 0.";
  if (std::abs(factor + 1) <= 1e-6) return "The sign is flipped.";
  const double size = std::abs(factor);
  return fmt::format("They are right but for a constant factor: {}{}{}.",
                     factor < 0 ? "the sign is flipped, and they are " : "", times_too(size),
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

/// The slices of an array along an axis.
std::vector<Array> slices(const Array& array, int axis) {
  std::vector<Array> parts;
  for (Index i = 0; i < array.dim(axis); ++i) {
    parts.push_back(headroom::slice(array, {axis, i, i + 1}));
  }
  return parts;
}

/// The sentence that the slices along an axis are in another order, or "". Only of few slices that
/// are all different: of sorted or repeated numbers nearly everything is a selection.
std::string about_order(const Array& expected, const Array& yours, const Names& names) {
  constexpr std::size_t most = 10;
  for (int axis = 0; axis < expected.rank(); ++axis) {
    const std::vector<Array> right = slices(expected, axis);
    if (right.size() < 2 || right.size() > most) continue;
    std::vector<std::size_t> order;
    for (const Array& slice : slices(yours, axis)) {
      for (std::size_t j = 0; j < right.size(); ++j) {
        if (agree(right[j], slice)) order.push_back(j);
      }
    }
    bool distinct = true;
    for (std::size_t a = 0; a < right.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) distinct = distinct && !agree(right[a], right[b]);
    }
    if (order.size() != right.size() || !distinct) continue;
    const std::string name = axis_name(names, axis);
    const std::set<std::size_t> different(order.begin(), order.end());
    if (different.size() == 1) {
      return fmt::format("Every {} has the result of {} {}.", name, name, order.front());
    }
    if (different.size() < order.size()) continue;
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
  for (const auto explain : {about_factor, about_exchanged_axes, about_order, about_one_slice}) {
    const std::string text = explain(expected, yours, names);
    if (!text.empty()) return '\n' + text;
  }
  return "";
}

/// The sentence on the hypotheses and mistakes that give the same result as the answer, or "".
std::string explanations(const Array& yours, const std::vector<Hypothesis>& hypotheses,
                         std::vector<std::string> fitting) {
  for (const Hypothesis& hypothesis : hypotheses) {
    const std::string& guess = hypothesis.looks_as_if;
    try {
      // There may be several ways to one mistake.
      if (std::find(fitting.begin(), fitting.end(), guess) == fitting.end() &&
          agree(hypothesis.result(), yours)) {
        fitting.push_back(guess);
      }
    } catch (const headroom::Error&) {  // the mistake is not possible here
    }
  }
  if (fitting.empty()) return "";
  return fmt::format("\nIt looks as if {}{}.", fitting.size() > 1 ? "either " : "",
                     fmt::join(fitting, ",\nor "));
}

/// The message for two shapes.
std::string wrong_shape(const std::string& subject, const Array& expected, const Array& yours,
                        const Names& names, const std::vector<Hypothesis>& hypotheses) {
  std::string text = fmt::format("{} have the shape {}, expected {}", subject, yours.shape().text(),
                                 expected.shape().text());
  if (!names.axes.empty()) text += fmt::format(": {}", fmt::join(names.axes, ", "));
  text += '.' + explanations(yours, hypotheses, mistakes_like(yours));
  if (yours.rank() != expected.rank()) return text;
  const std::string exchanged = about_exchanged_axes(expected, yours, names);
  return exchanged.empty() ? text : text + '\n' + exchanged;
}

/// The result of a call; fails when there is none or its shape is not the expected one.
Tensor result_of(const Call& call, const Array& expected, const Names& names,
                 const std::vector<Hypothesis>& hypotheses) {
  Tensor y = call();
  require(y.defined(), "the function returned an undefined tensor: it needs a value.");
  if (y.shape() != expected.shape()) {
    FAIL(difference("the values", expected, y.value(), names, hypotheses));
  }
  return y;
}

/// Fails if an input of the answer's function is not what it was before the call.
void require_unchanged(const std::string& name, const Array& before, const Tensor& input) {
  const Array& now = input.value();
  const auto changed = std::mismatch(before.span().begin(), before.span().end(), now.span().begin(),
                                     [](Real a, Real b) { return a == b || std::isnan(a); });
  if (changed.first == before.span().end()) return;
  FAIL(
      fmt::format("your function changed its input {}: element {} was {:.6g} and is {:.6g} now. "
                  "Array y = x.value() is another handle of the same numbers; Array y(x.shape()) "
                  "has its own.",
                  name, changed.first - before.span().begin(), *changed.first, *changed.second));
}

}  // namespace

void require(bool holds, const std::string& sentence) {
  if (!holds) FAIL(sentence);
  SUCCEED();
}

std::string times_too(double factor) {
  const double size = factor > 1 ? factor : 1 / factor;
  const char* direction = factor > 1 ? "large" : "small";
  if (size >= 1.1) return fmt::format("{:.6g} times too {}", size, direction);
  return fmt::format("{} % too {}", brief(100 * std::abs(factor - 1)), direction);
}

std::string difference(const std::string& subject, const Array& expected, const Array& yours,
                       const Names& names, const std::vector<Hypothesis>& hypotheses,
                       const std::vector<Hypothesis>& general) {
  begin_comparison();
  if (!yours.defined()) return fmt::format("{} are missing.", subject);
  if (yours.shape() != expected.shape()) {
    return wrong_shape(subject, expected, yours, names, hypotheses);
  }
  const Wrong wrong = wrong_elements(expected, yours);
  if (wrong.count == 0) return "";
  std::string text = fmt::format(
      "{} are wrong: {} of {} elements differ, most at {}{}.", subject, wrong.count,
      expected.size(), place(expected.shape(), wrong.worst, names),
      invisible_difference(expected[wrong.worst], yours[wrong.worst], all_whole(expected)));
  text += side_by_side(expected, yours, wrong.worst);
  const Array also = names.also ? names.also() : Array();
  std::string reason = explanations(yours, hypotheses, mistakes_like(yours, also));
  if (reason.empty()) reason = explanations(yours, general, {});
  if (reason.empty()) reason = generic_explanation(expected, yours, names);
  return text + reason;
}

std::string looks_as_if(const Array& wrong) {
  begin_comparison();
  return explanations(wrong, {}, mistakes_like(wrong));
}

std::string looks_as_if(double wrong) { return looks_as_if(Array(Shape{}, Real(wrong))); }

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

Call unchanged(const Call& call, const std::vector<std::pair<std::string, Tensor>>& inputs) {
  return [=] {
    std::vector<Array> before;
    for (const auto& [name, tensor] : inputs) before.push_back(tensor.value().clone());
    const Tensor y = call();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      require_unchanged(inputs[i].first, before[i], inputs[i].second);
    return y;
  };
}

namespace {

/// A backward pass of a call whose inputs also have gradients of another operation.
struct Pass {
  std::vector<Array> before, all, own;  // of each input: by the other operation, both, the call
  std::string refused;                  // the library's message, if it stopped the pass
};

Pass backward_pass(const Tensor& y, const Array& dy, const std::vector<Input>& inputs) {
  // The other operation is younger than the answer's, so its gradients arrive first.
  headroom::Rng rng(1, "gradients that are there before");
  Pass pass;
  Tensor loss = sum(y * Tensor(dy));
  for (const Input& input : inputs) {
    pass.before.push_back(random_array(input.tensor.shape(), rng));
    loss = loss + sum(input.tensor * Tensor(pass.before.back()));
  }
  try {
    loss.backward();
  } catch (const headroom::ShapeError& error) {
    FAIL("a gradient has another shape than its input. (The library: " << error.what() << ")");
  } catch (const headroom::Error& error) {
    pass.refused = error.what();  // an input without a gradient, which gets its own sentence
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array all = inputs[i].tensor.grad();
    Array own = zeros(inputs[i].tensor.shape());
    for (Index j = 0; all.defined() && j < own.size(); ++j) own[j] = all[j] - pass.before[i][j];
    pass.all.push_back(all);
    pass.own.push_back(own);
  }
  return pass;
}

/// Whether a backward pass of the call gives an input a gradient at all.
bool gradient_arrives(const Call& call, const Array& dy, Tensor input) {
  input.zero_grad();
  try {
    call().backward(dy);
  } catch (const headroom::Error&) {  // another input has none
  }
  return input.grad().defined();
}

/// The hypothesis that the gradient of an input does not depend on dy.
Hypothesis dy_ignored(const Call& call, const Array& dy, const std::vector<Input>& inputs,
                      std::size_t i) {
  return {
      "dy is ignored: another dy gives the same gradient, and what comes after the operation never "
      "gets through",
      [=] {
        headroom::Rng rng(2, "another dy");
        for (const Input& input : inputs) Tensor(input.tensor).zero_grad();
        return backward_pass(call(), random_array(dy.shape(), rng), inputs).own[i];
      }};
}

}  // namespace

void require_gradients(const Call& call, const Array& dy, const std::vector<Input>& inputs,
                       const Names& names) {
  std::vector<Array> values;
  for (const Input& input : inputs) values.push_back(input.tensor.value().clone());
  const Tensor y = result_of(call, dy, names, {});
  require(y.requires_grad(),
          "the result is not recorded on the tape: return record(op, y, {inputs}, backward).");
  const Pass pass = backward_pass(y, dy, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require_unchanged(inputs[i].name, values[i], inputs[i].tensor);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    const Array& own = pass.own[i];
    require(!agree(zeros(own.shape()), own) || agree(input.gradient, own) ||
                gradient_arrives(call, dy, input.tensor),
            fmt::format("no gradient arrived at {}: the backward closure does not add to its "
                        "slot.{}",
                        input.name,
                        pass.refused.empty() ? "" : " (The library: " + pass.refused + ")"));
    require(!agree(input.gradient, pass.all[i]),
            fmt::format("the gradient of {} was replaced, not added to: what another operation had "
                        "added before is lost.",
                        input.name));
    Names of_input = names;
    if (!input.axes.empty()) of_input.axes = input.axes;
    const std::string text =
        difference(fmt::format("the elements of the gradient of {}", input.name), input.gradient,
                   own, of_input, input.hypotheses, {dy_ignored(call, dy, inputs, i)});
    require(text.empty(), text);
  }
  require(pass.refused.empty(), "the backward pass was refused: " + pass.refused);
}

Array random_array(const Shape& shape, headroom::Rng& rng) {
  return headroom::normal(shape, 1, rng);
}

}  // namespace chapter
