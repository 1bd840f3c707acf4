// Checks the library's softmax, whoever wrote it, against plain loops in long double.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/softmax.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Hypothesis;
using chapter::random_array;

const chapter::Names names{{"batch", "row", "column"}, {{"the number of columns", 5}}};
constexpr Index batch = 2, rows = 3, columns = 5;

Array right(const Array& x) {
  Array y(x.shape());
  for (Index i = 0; i < x.size(); ++i) {
    const Index row = i / columns * columns;  // its first element
    long double sum = 0;
    for (Index j = row; j < row + columns; ++j) {
      sum += std::exp(static_cast<long double>(x[j]) - static_cast<long double>(x[i]));
    }
    y[i] = Real(1 / sum);
  }
  return y;
}

/// The shares with a small number beside the sum of a row, with and without the maximum subtracted.
std::vector<Hypothesis> little_added(const Array& x) {
  std::vector<Hypothesis> list;
  for (Real little = Real(1e-12); little < Real(0.05); little *= 10) {
    for (const bool shifted : {false, true}) {
      list.push_back(
          {"a small number was added to the sum: then the shares of a row do not add up to 1. The "
           "sum is never 0 when the maximum was subtracted",
           [=] {
             Array y = right(x);
             for (Index i = 0; i < y.size(); ++i) {
               const Real* const row = x.data() + i / columns * columns;
               const Real largest = shifted ? *std::max_element(row, row + columns) : 0;
               const Real exponential = std::exp(x[i] - largest);
               y[i] = exponential / (exponential / y[i] + little);
             }
             return y;
           }});
    }
  }
  return list;
}

Array yours(const Array& x) {
  const NoGrad quiet;
  const Tensor input(x);
  return chapter::unchanged([&] { return softmax(input); }, {{"x", input}})().value();
}

/// 1 where the answer gives NaN, for x and for a second input, of which each e^x is above 0 and
/// each e^2x is not: it tells a row from which nothing was subtracted from one that lost 2 x.
Array nans(const Array& x) {
  Array flags({2, x.size()});
  for (Index i = 0; i < x.size(); ++i) {
    flags[i] = x[i];
    flags[x.size() + i] = Real(is_double ? -500 : -60) + x[i] - std::round(x[i] / 1000) * 1000;
  }
  for (Index input = 0; input < 2; ++input) {
    const AxisRange own{0, input, input + 1};
    const Array y = yours(slice(flags, own).reshaped(x.shape()).clone());
    for (Index i = 0; i < x.size(); ++i) flags[input * x.size() + i] = std::isnan(y[i]) ? 1 : 0;
  }
  return flags;
}

/// Compares for inputs that are too large for e^x; NaN gets its own message.
void require_finite(const std::string& where, const Array& x) {
  const Array y = yours(x);
  Index wrong = 0;
  for (const Real v : y.span()) wrong += std::isnan(v) ? 1 : 0;
  if (wrong > 0) {
    FAIL(fmt::format("NaN in {} of {} elements {}.{}", wrong, x.size(), where,
                     chapter::looks_as_if(nans(x))));
  }
  chapter::require_equal("the values", right(x), y, names);
}

/// Random rows, moved by `offset(row)`.
template <class Offset>
Array moved(Rng& rng, Offset offset) {
  Array x = random_array({batch, rows, columns}, rng);
  for (Index i = 0; i < x.size(); ++i) x[i] += Real(offset(i / columns));
  return x;
}

}  // namespace

TEST_CASE("values: y_i = e^x_i / sum_j e^x_j", "[04/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/1");
    const Array x = random_array({batch, rows, columns}, rng);
    const Tensor input = parameter(x);
    chapter::require_values(chapter::unchanged([&] { return softmax(input); }, {{"x", input}}),
                            right(x), names, little_added(x));
  }
}

TEST_CASE("large inputs", "[04/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/1 large");
    require_finite("where x is near 1000", moved(rng, [](Index) { return 1000; }));
  }
}

TEST_CASE("very negative inputs", "[04/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/1 negative");
    require_finite("where x is near -1000", moved(rng, [](Index) { return -1000; }));
  }
}

TEST_CASE("rows of different size", "[04/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/1 rows");
    require_finite("of an x with rows near -1000, near 0 and near 1000",
                   moved(rng, [](Index row) { return 1000 * (row % 3 - 1); }));
  }
}

TEST_CASE("gradients: dx_i = y_i (dy_i - sum_j y_j dy_j)", "[04/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/1 gradients");
    const Tensor x = parameter(random_array({batch, rows, columns}, rng));
    const Array dy = random_array(x.shape(), rng), y = right(x.value());
    Array dx(x.shape());
    for (Index row = 0; row < dx.size(); row += columns) {
      Real mean = 0;
      for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
      for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
    }
    chapter::require_gradients([&] { return softmax(x); }, dy, {{"x", x, dx}}, names);
  }
}
