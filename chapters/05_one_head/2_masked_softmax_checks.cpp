// Checks masked_softmax: values, rows with nothing allowed, anything under the mask, gradients.
#include <fmt/format.h>

#include <limits>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/softmax.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 3, queries = 4, keys = 5;

const chapter::Names names{{"batch", "query", "key"}, {{"T", 5}}};

/// Random scores, of which about 2 of 3 are allowed. Every row has an allowed element, but for
/// those with the number of `closed` in each batch.
struct Case {
  explicit Case(std::uint64_t seed, Index closed = -1) : rng(seed, "05/2") {
    x = random_array({batch, queries, keys}, rng);
    allowed = Bytes(x.shape());
    for (Index e = 0; e < x.size(); ++e) {
      const Index row = e / keys;
      allowed[e] = rng.uniform() < Real(0.6) || e % keys == row % keys ? 1 : 0;
      if (row % queries == closed) allowed[e] = 0;
    }
    allowed[keys + 2] = 0;  // at least one element is not allowed
  }
  bool may(Index i) const { return allowed[i] != 0; }
  /// e^x / sum of e^x of the elements that are allowed.
  Array right() const {
    Array y = zeros(x.shape());
    for (Index row = 0; row < x.size(); row += keys) {
      double sum = 0;
      for (Index i = row; i < row + keys; ++i) sum += may(i) ? std::exp(double(x[i])) : 0;
      for (Index i = row; i < row + keys; ++i) {
        if (may(i)) y[i] = Real(std::exp(double(x[i])) / sum);
      }
    }
    return y;
  }
  Array gradient(const Array& dy) const {
    const Array y = right();
    Array dx = zeros(x.shape());
    for (Index row = 0; row < x.size(); row += keys) {
      double mean = 0;
      for (Index i = row; i < row + keys; ++i) mean += double(y[i]) * double(dy[i]);
      for (Index i = row; i < row + keys; ++i) dx[i] = Real(double(y[i]) * (double(dy[i]) - mean));
    }
    return dx;
  }

  Rng rng;
  Array x;
  Bytes allowed;
};

Array weights_of(const Case& c, const Array& x) {
  const NoGrad quiet;
  return masked_softmax(Tensor(x), c.allowed).value();
}

/// The number of elements that are no number.
Index count_nan(const Array& y) {
  Index count = 0;
  for (Index i = 0; i < y.size(); ++i) count += std::isnan(y[i]) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("values: only what is allowed counts", "[05/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x(c.x);
    chapter::require_values([&] { return masked_softmax(x, c.allowed); }, c.right(), names);
  }
}

TEST_CASE("nothing allowed: the row is 0", "[05/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, 1);
    const Array y = weights_of(c, c.x);
    chapter::require(
        count_nan(y) == 0,
        "a row in which nothing is allowed is NaN. It has no maximum and no sum: infinity minus "
        "infinity is NaN, and so is 0 / 0. In an attention, one such row spoils the gradients of "
        "all others.");
    chapter::require_equal("the values", c.right(), y, names);
  }
}

TEST_CASE("whatever is under the mask", "[05/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const auto with = [&](Real number) {
      Array x = c.x.clone();
      for (Index i = 0; i < x.size(); ++i) {
        if (!c.may(i)) x[i] = number;
      }
      return weights_of(c, x);
    };
    chapter::require(count_nan(with(std::numeric_limits<Real>::quiet_NaN())) == 0,
                     "a NaN under the mask came through: 0 * NaN is NaN, and so is anything plus "
                     "NaN.\nWhat is not allowed must not be computed with; skip it.");
    const Array y = with(1000);
    const Array right = c.right();
    bool vanished = true;  // each wrong element is 0 or NaN
    for (Index i = 0; i < y.size(); ++i) {
      const double distance = std::abs(double(y[i] - right[i]));
      if (!(distance <= chapter::tolerance)) vanished = vanished && !(y[i] != 0 && y[i] == y[i]);
    }
    const std::string text = chapter::difference("the values", right, y, names);
    chapter::require(
        text.empty(),
        fmt::format("the elements under the mask are 1000 now. They are not allowed, so nothing "
                    "should change.\n{}{}",
                    vanished
                        ? "It looks as if the maximum was searched among all elements: next to "
                          "e^(1000 - 1000), the others are 0, and 0 / 0 is NaN. "
                        : "",
                    text));
  }
}

TEST_CASE("gradients: y (dy - mean)", "[05/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Index closed : {Index{-1}, Index{2}}) {
      Case c(seed, closed);
      const Tensor x = parameter(c.x);
      const Array dy = random_array(c.x.shape(), c.rng);
      chapter::require_gradients([&] { return masked_softmax(x, c.allowed); }, dy,
                                 {{"x", x, c.gradient(dy), {}, {}}}, names);
    }
  }
}

TEST_CASE("one mask for several heads", "[05/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/2 heads");
    const Array x = random_array({2, 3, queries, keys}, rng);
    Bytes small({2, 1, 1, keys}, std::uint8_t{1}), all(x.shape());
    for (Index e = 0; e < small.size(); ++e) small[e] = e % keys <= e / keys + 1 ? 1 : 0;
    for (Index e = 0; e < all.size(); ++e) {
      all[e] = small[e / (3 * queries * keys) * keys + e % keys];
    }
    const NoGrad quiet;
    chapter::require_equal(
        "the values with a mask of fewer axes", masked_softmax(Tensor(x), all).value(),
        masked_softmax(Tensor(x), small).value(), {{"batch", "head", "query", "key"}, {}});
  }
}
