// Checks the library's softmax, whoever wrote it, against plain loops in long double.
#include <fmt/format.h>

#include <cmath>

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
  const auto sum_of_row = [=](Index i, auto formula) {
    Real sum = 0;
    for (Index j = i / columns * columns; j < i / columns * columns + columns; ++j) {
      sum += formula(x[j]);
    }
    return sum;
  };
  return {{"the sum went over the rows, along axis 1: it belongs to the last axis",
           [=] { return shares(x, rows, columns); }},
          {"the sum went over axis 0: it belongs to the last axis",
           [=] { return shares(x, batch, rows * columns); }},
          {"the sum went over the whole array: every row adds up to 1 by itself",
           [=] { return shares(x, x.size(), 1); }},
          {"the exponential is missing: x was divided by the sum of x",
           each(x, [=](Index i) { return x[i] / sum_of_row(i, [](Real v) { return v; }); })},
          {"nothing was divided: e^x was not divided by the sum of its row",
           each(x, [=](Index i) { return std::exp(x[i]); })}};
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

/// Compares for inputs that are too large for e^x; NaN gets its own message.
void require_finite(const std::string& where, const Array& x) {
  const NoGrad quiet;
  const Array y = softmax(Tensor(x)).value();
  Index wrong = 0;
  for (const Real v : y.span()) wrong += std::isnan(v) ? 1 : 0;
  if (wrong == 0) {
    const Array share = each(x, [](Index) { return Real(1) / Real(columns); })();
    std::vector<Hypothesis> list;
    if (x[0] > 100) {
      list = {{"large inputs were cut off: all of them get the same share then", [=] {
                 Array cut(x.shape());
                 for (Index i = 0; i < x.size(); ++i) cut[i] = std::min(x[i], Real(80));
                 return right(cut);
               }}};
    }
    chapter::require_equal("the values", right(x), y, names, list);
    return;
  }
  const auto maximum = [&](Index begin, Index end) {
    return *std::max_element(x.data() + begin, x.data() + end);
  };
  std::string text = fmt::format("NaN in {} of {} elements {}.", wrong, x.size(), where);
  const auto add_if = [&](const Array& suspect, const char* sentence) {
    if (same_nans(suspect, y)) text += sentence;
  };
  if (same_nans(shifted(x, [](Index) { return Real(0); }), y) && x[0] > 100) {
    text +=
        "\ne^1000 is infinite, and infinity divided by infinity is not a number. Softmax does not "
        "change when the same number is subtracted from all elements of a row.";
  } else {
    add_if(shifted(x, [&](Index row) { return std::max(Real(0), maximum(row, row + columns)); }),
           "\nIt looks as if the search for the maximum begins at 0: no element of such a row "
           "is above it, so nothing is subtracted, each e^x is 0, and 0 / 0 is not a number.");
    add_if(shifted(x, [&](Index) { return maximum(0, x.size()); }),
           "\nIt looks as if one maximum was subtracted from all rows: in a row that is far below "
           "it, each e^x is 0, and 0 / 0 is not a number.");
  }
  FAIL(text);
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
    chapter::require_values([&] { return softmax(parameter(x)); }, right(x), names, hypotheses(x));
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
         each(dy, [=](Index i) { return dy[i] - sum(i / columns * columns, i, weighted); })}};
    chapter::require_gradients([&] { return softmax(x); }, dy, {{"x", x, dx, list, {}}}, names);
  }
}
