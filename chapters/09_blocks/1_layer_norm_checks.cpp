// Checks layer_norm against the formula in plain loops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/checks.hpp"
#include "headroom/ops/normalisation.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

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

  /// The mean and 1 / deviation of the row that begins at `at`.
  std::pair<double, double> statistics(Index at) const {
    double mean = 0, variance = 0;
    for (Index c = 0; c < columns; ++c) mean += double(x[at + c]) / double(columns);
    for (Index c = 0; c < columns; ++c) {
      variance += std::pow(double(x[at + c]) - mean, 2) / double(columns);
    }
    return {mean, 1 / std::sqrt(variance + double(epsilon))};
  }
  /// Element c of the normalised row that begins at `at`.
  double n(Index at, Index c) const {
    const auto [mean, rstd] = statistics(at);
    return (double(x[at + c]) - mean) * rstd;
  }
  Array values() const {
    Array y(x.shape());
    for (Index i = 0; i < y.size(); ++i) {
      const Index c = i % columns;
      y[i] = Real(n(i - c, c) * double(weight[c]) + double(bias[c]));
    }
    return y;
  }
  Array dx() const {
    Array result(x.shape());
    for (Index at = 0; at < x.size(); at += columns) {
      const auto g = [&](Index c) { return double(dy[at + c]) * double(weight[c]); };
      double mean_g = 0, mean_gn = 0;
      for (Index c = 0; c < columns; ++c) {
        mean_g += g(c) / double(columns);
        mean_gn += g(c) * n(at, c) / double(columns);
      }
      const double rstd = statistics(at).second;
      for (Index c = 0; c < columns; ++c) {
        result[at + c] = Real(rstd * (g(c) - mean_g - n(at, c) * mean_gn));
      }
    }
    return result;
  }
  /// The sum over rows of factor(row's begin, c).
  template <class Factor>
  Array over_rows(Factor factor) const {
    Array sum({columns}, 0);
    for (Index c = 0; c < columns; ++c) {
      double total = 0;
      for (Index at = 0; at < x.size(); at += columns) total += factor(at, c);
      sum[c] = Real(total);
    }
    return sum;
  }
  Array dweight() const {
    return over_rows([&](Index at, Index c) { return double(dy[at + c]) * n(at, c); });
  }
  Array dbias() const {
    return over_rows([&](Index at, Index c) { return double(dy[at + c]); });
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
    chapter::require_values(
        [&] { return layer_norm(Tensor(c.x), Tensor(c.weight), Tensor(c.bias), c.epsilon); },
        c.values(), c.names());
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
    chapter::require_gradients([&] { return layer_norm(x, weight, bias, c.epsilon); }, c.dy,
                               {{"x", x, c.dx()},
                                {"weight", weight, c.dweight(), {}, {"channel"}},
                                {"bias", bias, c.dbias(), {}, {"channel"}}},
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
