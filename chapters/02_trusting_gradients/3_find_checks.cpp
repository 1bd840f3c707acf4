// Checks three operations: their values by plain loops, their gradients by gradcheck and, where
// that fails, by plain loops as well.
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

Array filled(const Shape& shape, const std::function<Real(Index)>& formula) {
  Array result(shape);
  for (Index i = 0; i < result.size(); ++i) result[i] = formula(i);
  return result;
}

void check(const Call& call, const Array& expected, const Arrays& gradients) {
  chapter::require_equal(
      fmt::format("{}: the values have changed, and they were right. The values", call.name),
      expected, call.function(call.leaves()).value());
  const GradcheckResult result = gradcheck(call.function, call.inputs);
  const Tensors x = call.leaves();
  call.function(x).backward(call.dy);
  std::string reason;
  for (std::size_t i = 0; i < x.size() && reason.empty(); ++i) {
    const bool matrix = gradients[i].rank() == 2;
    const chapter::Names names{
        matrix ? std::vector<std::string>{"row", "column"} : std::vector<std::string>{"element"},
        {}};
    const std::string text = chapter::difference(fmt::format("the gradients of input {}", i),
                                                 gradients[i], x[i].grad(), names);
    if (!text.empty()) reason = "\n" + text;
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
    check({"mean_of_rows", [](const Tensors& in) { return mean_of_rows(in[0]); }, {x}, dy}, mean,
          {filled(x.shape(), [=](Index i) { return dy[i % columns] / Real(rows); })});
  }
}

TEST_CASE("scale", "[02/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/3 scale");
    const Array x = random_array({rows, columns}, rng), s = random_array({columns}, rng);
    const Array dy = random_array({rows, columns}, rng);
    Array ds = zeros(s.shape());
    for (Index i = 0; i < x.size(); ++i) ds[i % columns] += dy[i] * x[i];
    check({"scale", [](const Tensors& in) { return scale(in[0], in[1]); }, {x, s}, dy},
          filled(x.shape(), [=](Index i) { return x[i] * s[i % columns]; }),
          {filled(x.shape(), [=](Index i) { return dy[i] * s[i % columns]; }), ds});
  }
}

TEST_CASE("preference", "[02/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/3 preference");
    const Array a = random_array({5}, rng), b = random_array({5}, rng), dy = random_array({5}, rng);
    const auto p = [=](Index i) { return 1 / (1 + std::exp(a[i] - b[i])); };
    check({"preference", [](const Tensors& in) { return preference(in[0], in[1]); }, {a, b}, dy},
          filled({5}, [=](Index i) { return std::log(1 + std::exp(b[i] - a[i])); }),
          {filled({5}, [=](Index i) { return -dy[i] * p(i); }),
           filled({5}, [=](Index i) { return dy[i] * p(i); })});
  }
}
