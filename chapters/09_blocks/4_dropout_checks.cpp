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
  /// An array by a formula for element i.
  template <class Formula>
  std::function<Array()> each(Formula formula) const {
    return [this, formula] {
      Array result(x.shape());
      for (Index i = 0; i < result.size(); ++i) result[i] = formula(i);
      return result;
    };
  }
  /// `from` with the mask and the scale.
  Array masked(const Array& from) const {
    return each([&](Index i) { return kept(i) ? from[i] / (1 - p) : Real(0); })();
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

/// The result itself, if it has a mask of another origin.
std::function<Array()> another_mask(const Array& yours, const Array& from, Real p) {
  return [=] { return is_masked(yours, from, p) ? yours : Array({0}); };
}

}  // namespace

TEST_CASE("values: 0, or x / (1 - p)", "[09/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const auto u = [&c](Index i) { return Real(c.stream.uniform(i)); };
    const Tensor y = dropout(Tensor(c.x), c.p, c.stream);
    chapter::require(y.defined() && y.shape() == c.x.shape(),
                     "the result needs a value, of the shape of x.");
    const Index columns = c.x.dim(-1);
    std::vector<chapter::Hypothesis> hypotheses = {
        {"the elements that are kept were not scaled: the mean of the output falls to 1 - p of "
         "what the next layer sees without dropout",
         c.each([&](Index i) { return c.kept(i) ? c.x[i] : Real(0); })},
        {"p was taken for the probability to be kept: it is the probability to be dropped",
         c.each([&](Index i) { return u(i) < c.p ? c.x[i] / c.p : Real(0); })},
        {"the elements that should be kept were dropped: those with u[i] >= p stay",
         c.each([&](Index i) { return c.kept(i) ? Real(0) : c.x[i] / (1 - c.p); })},
        {"every row has the same mask: i counts all elements, not those of one row",
         c.each([&](Index i) { return c.kept(i % columns) ? c.x[i] / (1 - c.p) : Real(0); })}};
    const bool explained =
        std::any_of(hypotheses.begin(), hypotheses.end(), [&](const chapter::Hypothesis& h) {
          return chapter::difference("", h.result(), y.value()).empty();
        });
    if (!explained) {
      hypotheses.push_back(
          {"the elements were dropped and scaled as they should, but with a mask that the stream "
           "did not draw. Then no run can be repeated, and the backward pass does not know it",
           another_mask(y.value(), c.x, c.p)});
    }
    chapter::require_values([&] { return y; }, c.masked(c.x), names, hypotheses);
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
            another_mask(own, c.dy, c.p)},
           {"the mask is missing in the backward pass: an element that was dropped cannot move the "
            "loss",
            [&] { return c.dy; }},
           {"the mask is missing in the backward pass, only the scale is there",
            c.each([&](Index i) { return c.dy[i] / (1 - c.p); })},
           {"the gradient was not scaled: dy/dx is 1 / (1 - p) where x was kept",
            c.each([&](Index i) { return c.kept(i) ? c.dy[i] : Real(0); })}}}},
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
