// Checks three operations: their values by plain loops, their gradients by gradcheck, and, where
// that fails, which mistake gives the same numbers.
#include "3_find.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/autograd/gradcheck.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

constexpr Index rows = 4, columns = 3;

/// A call of an operation, and dL/dy.
struct Call {
  const char* name;
  std::function<Tensor(const Tensors&)> function;
  Arrays inputs;
  Array dy;

  Tensors leaves() const {
    Tensors x;
    for (const Array& input : inputs) x.push_back(parameter(input.clone()));
    return x;
  }
};

/// A gradient that a mistake gives, for each element i of the input.
struct Mistake {
  std::string looks_as_if;
  std::size_t input;
  std::function<Real(Index i)> gradient;
};

Array filled(const Shape& shape, const std::function<Real(Index)>& formula) {
  Array result(shape);
  for (Index i = 0; i < result.size(); ++i) result[i] = formula(i);
  return result;
}

void check(const Call& call, const Array& expected, const Arrays& gradients,
           const std::vector<Mistake>& mistakes) {
  chapter::require_equal(
      fmt::format("{}: the values have changed, and they were right. The values", call.name),
      expected, call.function(call.leaves()).value());
  const GradcheckResult result = gradcheck(call.function, call.inputs);
  const Tensors x = call.leaves();
  call.function(x).backward(call.dy);
  std::string reason;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool matrix = gradients[i].rank() == 2;
    const chapter::Names names{
        matrix ? std::vector<std::string>{"row", "column"} : std::vector<std::string>{"element"},
        {}};
    std::vector<chapter::Hypothesis> hypotheses;
    for (const Mistake& mistake : mistakes) {
      if (mistake.input != i) continue;
      hypotheses.push_back(
          {mistake.looks_as_if, [=] { return filled(gradients[i].shape(), mistake.gradient); }});
    }
    const std::string text = chapter::difference(fmt::format("the gradients of input {}", i),
                                                 gradients[i], x[i].grad(), names, hypotheses);
    if (reason.empty() && !text.empty()) reason = "\n" + text;
  }
  chapter::require(result.passed || !reason.empty(),
                   fmt::format("{}: {}\nThe gradients of a first pass are right: a gradient that "
                               "was there before was replaced. Use +=.",
                               call.name, result.text()));
  chapter::require(reason.empty(), fmt::format("{}: {}{}", call.name, result.text(), reason));
}

}  // namespace

TEST_CASE("mean_of_rows", "[02/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/3 mean");
    const Array x = random_array({rows, columns}, rng), dy = random_array({columns}, rng);
    Array mean = zeros({columns});
    for (Index i = 0; i < x.size(); ++i) mean[i % columns] += x[i] / Real(rows);
    const auto divided = [&](Index by) {
      return [=](Index i) { return dy[i % columns] / Real(by); };
    };
    check(
        {"mean_of_rows", [](const Tensors& in) { return mean_of_rows(in[0]); }, {x}, dy}, mean,
        {filled(x.shape(), divided(rows))},
        {{"the gradient is that of a sum: 1/T is missing", 0, divided(1)},
         {"it was divided by the number of columns, not of rows", 0, divided(columns)},
         {"it was divided by the number of all elements, not of rows", 0, divided(rows * columns)},
         {"the element of dy was taken by the row of x, not by its column", 0,
          [=](Index i) { return dy[i / columns % columns] / Real(rows); }}});
  }
}

TEST_CASE("scale", "[02/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/3 scale");
    const Array x = random_array({rows, columns}, rng), s = random_array({columns}, rng);
    const Array dy = random_array({rows, columns}, rng);
    const auto summed = [=](Index first, bool with_x, Real factor) {
      return [=](Index c) {
        Real sum = 0;
        for (Index t = first; t < rows; ++t) {
          sum += dy[t * columns + c] * (with_x ? x[t * columns + c] : 1);
        }
        return factor * sum;
      };
    };
    check({"scale", [](const Tensors& in) { return scale(in[0], in[1]); }, {x, s}, dy},
          filled(x.shape(), [=](Index i) { return x[i] * s[i % columns]; }),
          {filled(x.shape(), [=](Index i) { return dy[i] * s[i % columns]; }),
           filled(s.shape(), summed(0, true, 1))},
          {{"s got the share of the last row alone: every row has a contribution, and they are "
            "added",
            1, summed(rows - 1, true, 1)},
           {"the mean over the rows was taken: contributions are added", 1,
            summed(0, true, 1 / Real(rows))},
           {"the factor x is missing: dy/ds = x", 1, summed(0, false, 1)}});
  }
}

TEST_CASE("preference", "[02/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/3 preference");
    const Array a = random_array({5}, rng), b = random_array({5}, rng), dy = random_array({5}, rng);
    const auto p = [=](Index i) { return 1 / (1 + std::exp(a[i] - b[i])); };
    const auto plus = [=](Index i) { return dy[i] * p(i); };
    const auto minus = [=](Index i) { return -dy[i] * p(i); };
    const std::string exchanged = "a and b were exchanged: the loss falls when a grows";
    check({"preference", [](const Tensors& in) { return preference(in[0], in[1]); }, {a, b}, dy},
          filled({5}, [=](Index i) { return std::log(1 + std::exp(b[i] - a[i])); }),
          {filled({5}, minus), filled({5}, plus)},
          {{exchanged, 0, plus},
           {"a and b got the same gradient, and one of them makes the loss grow", 1, minus},
           {"1 - p was taken for b: that is the probability of the other choice", 1,
            [=](Index i) { return dy[i] * (1 - p(i)); }}});
  }
}
