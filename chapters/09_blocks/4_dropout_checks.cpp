// Checks dropout against the mask that its stream draws.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/checks.hpp"
#include "headroom/ops/dropout.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

const chapter::Names names{{"batch", "token", "channel"}, {}};

struct Case {
  explicit Case(std::uint64_t seed)
      : rng(seed, "09/4"), stream(seed, 3, 5), p(seed % 2 == 0 ? Real(0.25) : Real(0.6)) {
    x = random_array({2, 4, 6}, rng);
    dy = random_array({2, 4, 6}, rng);
  }
  bool kept(Index i) const { return Real(stream.uniform(i)) >= p; }
  /// `from` with the mask and the scale.
  Array masked(const Array& from) const {
    Array result(from.shape());
    for (Index i = 0; i < result.size(); ++i) result[i] = kept(i) ? from[i] / (1 - p) : Real(0);
    return result;
  }

  Rng rng;
  MaskStream stream;
  Real p;
  Array x, dy;
};

/// Returns true if each element is either 0 or that of `from`, scaled, and both occur.
bool is_masked(const Array& yours, const Array& from, Real p) {
  Index zero = 0, scaled = 0;
  for (Index i = 0; i < yours.size(); ++i) {
    const double whole = double(from[i] / (1 - p));
    if (yours[i] == 0) {
      ++zero;
    } else if (std::abs(double(yours[i]) - whole) < chapter::tolerance * (1 + std::abs(whole))) {
      ++scaled;
    }
  }
  return zero > 0 && scaled > 0 && zero + scaled == yours.size();
}

/// The result itself, if it has a mask that the stream did not draw: the same for another stream,
/// or another one for the same stream.
Array with_own_mask(const Array& yours, const Case& c) {
  const auto repeated = [&](const MaskStream& stream) {
    const Array again = dropout(Tensor(c.x), c.p, stream).value();
    return std::equal(again.span().begin(), again.span().end(), yours.span().begin());
  };
  const bool drawn = repeated(c.stream) && !repeated(MaskStream(99, 3, 5));
  return is_masked(yours, c.x, c.p) && !drawn ? yours : Array({0});
}

}  // namespace

TEST_CASE("values: 0, or x / (1 - p)", "[09/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor y = dropout(Tensor(c.x), c.p, c.stream);
    chapter::require(y.defined() && y.shape() == c.x.shape(),
                     "the result needs a value, of the shape of x.");
    chapter::require_values(
        [&] { return y; }, c.masked(c.x), names,
        {{"the elements were dropped and scaled as they should, but with a mask that the stream "
          "did not draw. Then no run can be repeated, and the backward pass does not know it",
          [&] { return with_own_mask(y.value(), c); }}});
  }
}

TEST_CASE("gradients: the same mask", "[09/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x = parameter(c.x);
    const Array own = [&] {
      const Tensor alone = parameter(c.x.clone());
      const Tensor y = dropout(alone, c.p, c.stream);
      if (!y.requires_grad()) return Array({0});
      try {
        y.backward(c.dy);
      } catch (const std::exception&) {
        return Array({0});
      }
      return alone.grad().defined() ? alone.grad().clone() : Array({0});
    }();
    chapter::require_gradients(
        [&] { return dropout(x, c.p, c.stream); }, c.dy,
        {{"x",
          x,
          c.masked(c.dy),
          {{"there is another mask in the backward pass: where x was dropped, its gradient must "
            "be 0, and nowhere else",
            [&] { return is_masked(own, c.dy, c.p) ? own : Array({0}); }}}}},
        names);
  }
}

TEST_CASE("p = 0 and p = 1", "[09/4]") {
  const Case c(1);
  const Tensor x = parameter(c.x);
  chapter::require(dropout(x, 0, c.stream).same(x), "with p = 0 the result is x itself.");
  const Array none = dropout(x, 1, c.stream).value();
  for (Index i = 0; i < none.size(); ++i) {
    chapter::require(none[i] == 0,
                     fmt::format("with p = 1 all elements are 0; element {} is not.{}", i,
                                 std::isnan(none[i]) ? "\n1 / (1 - p) is infinite, and 0 times "
                                                       "infinity is NaN: choose, do not multiply."
                                                     : ""));
  }
}

TEST_CASE("the mean stays", "[09/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Array x({100, 100}, 1);
    const Array y = dropout(Tensor(x), Real(0.3), MaskStream(seed, 1, 2)).value();
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i) sum += double(y[i]);
    chapter::require(std::abs(sum / 1e4 - 1) < 0.05,
                     fmt::format("10000 elements of 1 have the mean {:.3f} after dropout with p = "
                                 "0.3; it should stay near 1.",
                                 sum / 1e4));
  }
}
