// Checks layer_norm against the formula in plain loops. The hypotheses are the formula with a
// mistake.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/checks.hpp"
#include "headroom/ops/normalisation.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

/// The forward formula, and the mistakes in it.
struct Way {
  bool centred = true, unbiased = false, averaged = true, root = true, by_row = true;
  enum class Epsilon { inside, outside, none } epsilon = Epsilon::inside;
};

/// The gradient of x, and the mistakes in it.
struct Back {
  bool mean_term = true, n_term = true, averaged = true, weight = true;
};

struct Case {
  explicit Case(std::uint64_t seed) : rng(seed, "09/1") {
    const bool even = seed % 2 == 0;
    const Shape shape = even ? Shape{4, 7} : Shape{2, 3, 5};
    columns = shape[-1];
    epsilon = even ? Real(1e-3) : Real(0.1);
    x = random_array(shape, rng);
    for (Index i = 0; i < x.size(); ++i) {  // rows of other means and deviations
      const Index row = i / columns;
      x[i] = (x[i] + Real(0.5)) * (row % 2 == 0 ? Real(1) : Real(0.1));
    }
    weight = random_array({columns}, rng);
    bias = random_array({columns}, rng);
    dy = random_array(shape, rng);
  }

  /// The statistics of the row that begins at `at`: its mean and 1 / deviation.
  std::pair<double, double> statistics(Index at, const Way& way) const {
    const Index begin = way.by_row ? at : 0, n = way.by_row ? columns : x.size();
    double mean = 0, squares = 0;
    for (Index c = 0; c < n; ++c) mean += double(x[begin + c]) / double(n);
    for (Index c = 0; c < n; ++c) squares += std::pow(double(x[begin + c]) - mean, 2);
    const double count = way.averaged ? double(n - (way.unbiased ? 1 : 0)) : 1;
    const double variance = squares / count, e = double(epsilon);
    double deviation = std::sqrt(variance + e);
    if (way.epsilon == Way::Epsilon::outside) deviation = std::sqrt(variance) + e;
    if (way.epsilon == Way::Epsilon::none) deviation = std::sqrt(variance);
    if (!way.root) deviation = variance + e;
    return {mean, 1 / deviation};
  }
  Array values(const Way& way = {}) const {
    Array y(x.shape());
    for (Index i = 0; i < y.size(); ++i) {
      const auto [mean, rstd] = statistics(i - i % columns, way);
      const double n = (double(x[i]) - (way.centred ? mean : 0)) * rstd;
      y[i] = Real(n * double(weight[i % columns]) + double(bias[i % columns]));
    }
    return y;
  }
  std::function<Array()> with(const Way& way) const {
    return [this, way] { return values(way); };
  }

  Array dx(const Back& back = {}) const {
    Array result(x.shape());
    for (Index at = 0; at < x.size(); at += columns) {
      const auto [mean, rstd] = statistics(at, {});
      const auto n = [&, m = mean, s = rstd](Index c) { return (double(x[at + c]) - m) * s; };
      const auto g = [&](Index c) {
        return double(dy[at + c]) * (back.weight ? double(weight[c]) : 1);
      };
      double mean_g = 0, mean_gn = 0;
      const double count = back.averaged ? double(columns) : 1;
      for (Index c = 0; c < columns; ++c) {
        mean_g += g(c) / count;
        mean_gn += g(c) * n(c) / count;
      }
      for (Index c = 0; c < columns; ++c) {
        result[at + c] = Real(
            rstd * (g(c) - (back.mean_term ? mean_g : 0) - (back.n_term ? n(c) * mean_gn : 0)));
      }
    }
    return result;
  }
  std::function<Array()> dx_with(const Back& back) const {
    return [this, back] { return dx(back); };
  }

  /// The sum over rows, from `first` on, of factor(row's begin, c).
  template <class Factor>
  Array over_rows(Index first, Factor factor) const {
    Array sum({columns}, 0);
    for (Index c = 0; c < columns; ++c) {
      double total = 0;
      for (Index at = first; at < x.size(); at += columns) total += factor(at, c);
      sum[c] = Real(total);
    }
    return sum;
  }
  Array dweight(Index first = 0, bool from_x = false) const {
    return over_rows(first, [&](Index at, Index c) {
      const auto [mean, rstd] = statistics(at, {});
      const double n = (double(x[at + c]) - mean) * rstd;
      return double(dy[at + c]) * (from_x ? double(x[at + c]) : n);
    });
  }
  Array dbias(Index first = 0) const {
    return over_rows(first, [&](Index at, Index c) { return double(dy[at + c]); });
  }
  chapter::Names names() const {
    chapter::Names result{{"row", "channel"}, {{"C", double(columns)}}};
    if (x.rank() == 3) result.axes = {"batch", "token", "channel"};
    return result;
  }

  Rng rng;
  Index columns = 0;
  Real epsilon = 0;
  Array x, weight, bias, dy;
};

}  // namespace

TEST_CASE("values: every row gets mean 0 and variance 1", "[09/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    using Epsilon = Way::Epsilon;
    chapter::require_values(
        [&] { return layer_norm(Tensor(c.x), Tensor(c.weight), Tensor(c.bias), c.epsilon); },
        c.values(), c.names(),
        {{"the squares were divided by C - 1; this variance is the mean of the squares",
          c.with({.unbiased = true})},
         {"the squares were added up, not averaged: divide by C", c.with({.averaged = false})},
         {"epsilon was added to the standard deviation. It belongs under the root, to the variance",
          c.with({.epsilon = Epsilon::outside})},
         {"epsilon is missing: a row of equal elements would give 0 / 0",
          c.with({.epsilon = Epsilon::none})},
         {"the root is missing: the row was divided by its variance", c.with({.root = false})},
         {"the mean was not subtracted from the elements", c.with({.centred = false})},
         {"the mean and the variance are those of all rows together; each row has its own",
          c.with({.by_row = false})}});
  }
}

TEST_CASE("values: without weight and bias, and a row of equal elements", "[09/1]") {
  Case c(1);
  for (Index i = 0; i < c.columns; ++i) c.x[i] = 3;
  std::fill_n(c.weight.data(), c.columns, Real(1));
  std::fill_n(c.bias.data(), c.columns, Real(0));
  chapter::require_values([&] { return layer_norm(Tensor(c.x), {}, {}, c.epsilon); }, c.values(),
                          c.names());
}

TEST_CASE("values: rows with a large mean", "[09/1]") {
  // The sums of these elements are exact, so the mean is, too, and n does not depend on the offset.
  const Real offset = is_double ? Real(1 << 20) : Real(256);
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "09/1 offset");
    Array x = random_array({6, 8}, rng), far(x.shape());
    for (Index i = 0; i < x.size(); ++i) {
      x[i] = std::round(x[i] * 256) / 256;
      far[i] = x[i] + offset;
    }
    const Array near_by = layer_norm(Tensor(x), {}, {}).value();
    const Array yours = layer_norm(Tensor(far), {}, {}).value();
    double most = 0;  // NaN counts as infinite
    for (Index i = 0; i < x.size(); ++i) {
      const double moved = std::abs(double(yours[i]) - double(near_by[i]));
      most = std::max(most, std::isnan(moved) ? std::numeric_limits<double>::infinity() : moved);
    }
    chapter::require(
        most < 4 * chapter::tolerance,
        fmt::format("right for rows with a mean near 0, wrong when a large number is added to all "
                    "elements. It should change nothing; it changes elements by up to {:.1g}.\n"
                    "mean(x^2) - mean(x)^2 is the difference of two large numbers, and their "
                    "rounding errors are larger than the result. First the mean, then the squares "
                    "of the distances from it.",
                    most));
  }
}

TEST_CASE("gradients: of x, weight and bias", "[09/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x = parameter(c.x), weight = parameter(c.weight), bias = parameter(c.bias);
    const Index last = c.x.size() - c.columns;
    chapter::require_gradients(
        [&] { return layer_norm(x, weight, bias, c.epsilon); }, c.dy,
        {{"x",
          x,
          c.dx(),
          {{"mean and deviation were taken for constants. They depend on x: each of them adds a "
            "term",
            c.dx_with({.mean_term = false, .n_term = false})},
           {"the term with n is missing: a change of x[c] changes the variance of its row, too",
            c.dx_with({.n_term = false})},
           {"the term mean(g) is missing: a change of x[c] changes the mean of its row, too",
            c.dx_with({.mean_term = false})},
           {"the two means were not divided by C", c.dx_with({.averaged = false})},
           {"the weight is missing: g is dy * weight", c.dx_with({.weight = false})}}},
         {"weight",
          weight,
          c.dweight(),
          {{"only the last row was counted: all rows share the weight, so their gradients add up",
            [&] { return c.dweight(last); }},
           {"x was used for the weight's gradient; the weight multiplies n",
            [&] { return c.dweight(0, true); }}},
          {"channel"}},
         {"bias",
          bias,
          c.dbias(),
          {{"only the last row was counted: all rows share the bias, so their gradients add up",
            [&] { return c.dbias(last); }}},
          {"channel"}}},
        c.names());
  }
}

TEST_CASE("gradients: of x alone, without weight and bias", "[09/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    std::fill_n(c.weight.data(), c.columns, Real(1));
    const Tensor x = parameter(c.x);
    chapter::require_gradients([&] { return layer_norm(x, {}, {}, c.epsilon); }, c.dy,
                               {{"x", x, c.dx()}}, c.names());
  }
}
