// Checks the library's softmax, whoever wrote it, against plain loops in long double.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/softmax.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Hypothesis;
using chapter::random_array;

const chapter::Names names{{"batch", "row", "column"}, {{"the number of columns", 5}}};
constexpr Index batch = 2, rows = 3, columns = 5;

/// Softmax of the elements first, first + step, ..., n of them, of every such line of x.
Array shares(const Array& x, Index n, Index step) {
  Array y(x.shape());
  for (Index i = 0; i < x.size(); ++i) {
    const Index first = i / (n * step) * n * step + i % step;
    long double sum = 0;
    for (Index j = 0; j < n; ++j) {
      sum +=
          std::exp(static_cast<long double>(x[first + j * step]) - static_cast<long double>(x[i]));
    }
    y[i] = Real(1 / sum);
  }
  return y;
}
Array right(const Array& x) { return shares(x, columns, 1); }

/// An array of the shape of x by a formula for its element i.
template <class Formula>
std::function<Array()> each(const Array& x, Formula formula) {
  return [=] {
    Array result(x.shape());
    for (Index i = 0; i < x.size(); ++i) result[i] = formula(i);
    return result;
  };
}

std::vector<Hypothesis> hypotheses(const Array& x) {
  const Array y = right(x);
  const auto sum_of_row = [=](Index i, auto formula) {
    Real sum = 0;
    for (Index j = i / columns * columns; j < i / columns * columns + columns; ++j) {
      sum += formula(x[j]);
    }
    return sum;
  };
  return {
      {"the sum went over the rows, along axis 1: it belongs to the last axis",
       [=] { return shares(x, rows, columns); }},
      {"the sum went over axis 0: it belongs to the last axis",
       [=] { return shares(x, batch, rows * columns); }},
      {"the sum went over the whole array: every row adds up to 1 by itself",
       [=] { return shares(x, x.size(), 1); }},
      {"the exponential is missing: x was divided by the sum of x",
       each(x, [=](Index i) { return x[i] / sum_of_row(i, [](Real v) { return v; }); })},
      {"nothing was divided: e^x was not divided by the sum of its row",
       each(x, [=](Index i) { return std::exp(x[i]); })},
      {"the first element of the row is missing in the sum: the loop begins one late",
       each(x,
            [=](Index i) {
              const Index first = i / columns * columns;
              return 1 / (1 / y[i] - std::exp(x[first] - x[i]));
            })},
      {"only the last element of the row is in the sum: each one replaced the one before, "
       "where += adds",
       each(x, [=](Index i) { return std::exp(x[i] - x[i / columns * columns + columns - 1]); })}};
}

/// The shares with a small number beside the sum of a row, with and without the maximum subtracted.
void add_little(const Array& x, std::vector<Hypothesis>& list) {
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
}

/// y with the exponents x - s of each row, computed as an answer would; s from the row's index.
template <class Shift>
Array shifted(const Array& x, Shift shift) {
  Array y(x.shape());
  for (Index row = 0; row < x.size(); row += columns) {
    Real sum = 0;
    for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x[i] - shift(row));
    for (Index i = row; i < row + columns; ++i) y[i] /= sum;
  }
  return y;
}

/// Whether both have NaN in the same places.
bool same_nans(const Array& a, const Array& b) {
  for (Index i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return false;
  }
  return true;
}

Array yours(const Array& x) {
  const NoGrad quiet;
  const Tensor input(x);
  return chapter::unchanged([&] { return softmax(input); }, {{"x", input}})().value();
}

/// The number that was subtracted from all elements of a row.
using Shift = Real (*)(std::span<const Real> row, std::span<const Real> all);

/// True if the shift gives NaN where the answer does, for x and for a second input, of which each
/// e^x is above 0 and each e^2x is not: it tells a shift by 0 from one by -x.
bool explains_nans(const Array& x, Shift shift) {
  Array moderate = x.clone();
  for (Index i = 0; i < x.size(); ++i) {
    moderate[i] = Real(is_double ? -500 : -60) + x[i] - std::round(x[i] / 1000) * 1000;
  }
  for (const Array& input : {x, moderate}) {
    const auto of_row = [&](Index row) {
      return shift(input.span().subspan(std::size_t(row), std::size_t(columns)), input.span());
    };
    if (!same_nans(shifted(input, of_row), yours(input))) return false;
  }
  return true;
}

/// The reason for NaN in the answer's softmax of x, or "".
std::string reason_of_nans(const Array& x) {
  using Elements = std::span<const Real>;
  struct Reason {
    const char* text;
    Shift shift;
  };
  const Reason reasons[] = {
      {x[0] > 100 ? "e^1000 is infinite, and infinity divided by infinity is not a number. Softmax "
                    "does not change when the same number is subtracted from all elements of a row."
                  : "",
       [](Elements, Elements) { return Real(0); }},
      {"It looks as if the search for the maximum begins at 0: no element of such a row is above "
       "it, so nothing is subtracted, each e^x is 0, and 0 / 0 is not a number.",
       [](Elements row, Elements) { return std::max(Real(0), std::ranges::max(row)); }},
      {"It looks as if the maximum of |x| was subtracted: in a row of negative numbers each e^x "
       "then is 0, and 0 / 0 is not a number. The largest x is nearest to 0 there.",
       [](Elements row, Elements) {
         return std::max(std::ranges::max(row), -std::ranges::min(row));
       }},
      {"It looks as if one maximum was subtracted from all rows: in a row that is far below it, "
       "each e^x is 0, and 0 / 0 is not a number.",
       [](Elements, Elements all) { return std::ranges::max(all); }}};
  for (const Reason& reason : reasons) {
    if (*reason.text != 0 && explains_nans(x, reason.shift)) return reason.text;
  }
  return "";
}

/// Compares for inputs that are too large for e^x; NaN gets its own message.
void require_finite(const std::string& where, const Array& x) {
  const Array y = yours(x);
  Index wrong = 0;
  for (const Real v : y.span()) wrong += std::isnan(v) ? 1 : 0;
  if (wrong > 0) {
    FAIL(
        fmt::format("NaN in {} of {} elements {}.\n{}", wrong, x.size(), where, reason_of_nans(x)));
  }
  std::vector<Hypothesis> list;
  if (x[0] > 100) {
    list = {{"large inputs were cut off: all of them get the same share then", [=] {
               Array cut(x.shape());
               for (Index i = 0; i < x.size(); ++i) cut[i] = std::min(x[i], Real(80));
               return right(cut);
             }}};
  }
  chapter::require_equal("the values", right(x), y, names, list);
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
    std::vector<Hypothesis> list = hypotheses(x);
    add_little(x, list);
    chapter::require_values(chapter::unchanged([&] { return softmax(input); }, {{"x", input}}),
                            right(x), names, list);
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
    // The sum of f(j) over the elements [first, end of the row of i).
    const auto sum = [](Index first, Index i, auto f) {
      Real total = 0;
      for (Index j = first; j < i / columns * columns + columns; ++j) total += f(j);
      return total;
    };
    const auto weighted = [=](Index j) { return y[j] * dy[j]; };
    const Array dx = each(
        dy, [=](Index i) { return y[i] * (dy[i] - sum(i / columns * columns, i, weighted)); })();
    const std::vector<Hypothesis> list = {
        {"the sum over the row is missing: a larger x_i also makes the other shares smaller",
         each(dy, weighted)},
        {"y (1 - y) was taken, the derivative of y_i by its own x_i. The other shares of the row "
         "depend on x_i as well",
         each(dy, [=](Index i) { return y[i] * (1 - y[i]) * dy[i]; })},
        {"the sum over the row is that of dy, where the formula has y_j dy_j",
         each(dy,
              [=](Index i) {
                return y[i] *
                       (dy[i] - sum(i / columns * columns, i, [=](Index j) { return dy[j]; }));
              })},
        {"the sum over the row is not set back to 0 when a new row begins",
         each(dy, [=](Index i) { return y[i] * (dy[i] - sum(0, i, weighted)); })},
        {"the factor y_i is missing",
         each(dy, [=](Index i) { return dy[i] - sum(i / columns * columns, i, weighted); })},
        {"it is the gradient of log softmax: dy_i - y_i sum_j dy_j",
         each(dy,
              [=](Index i) {
                return dy[i] - y[i] * sum(i / columns * columns, i, [=](Index j) { return dy[j]; });
              })},
        {"the sum over the row was divided by the number of columns: the y_j of a row add up to 1, "
         "so it is a mean already",
         each(dy,
              [=](Index i) {
                return y[i] * (dy[i] - sum(i / columns * columns, i, weighted) / Real(columns));
              })},
        {"the first element of the row is missing in the sum: the loop begins one late",
         each(dy,
              [=](Index i) {
                return y[i] * (dy[i] - sum(i / columns * columns + 1, i, weighted));
              })},
        {"only the last element of the row is in the sum: each one replaced the one before, where "
         "+= adds",
         each(dy, [=](Index i) {
           return y[i] * (dy[i] - weighted(i / columns * columns + columns - 1));
         })}};
    chapter::require_gradients([&] { return softmax(x); }, dy, {{"x", x, dx, list, {}}}, names);
  }
}
