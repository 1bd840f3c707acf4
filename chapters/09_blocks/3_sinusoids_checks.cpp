// Checks the table of the layer Positions against the formula. The hypotheses are other formulas.
#include <cmath>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/nn/layers.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const chapter::Names names{{"position", "channel"}, {}};

Tensor table_of(Index longest, Index width) {
  Rng rng(1, "09/3");
  return Positions(PositionKind::sinusoidal, longest, width, rng).weight;
}

/// A table by a formula for one element.
template <class Formula>
std::function<Array()> each(Index longest, Index width, Formula formula) {
  return [=] {
    Array table({longest, width});
    for (Index t = 0; t < longest; ++t) {
      for (Index c = 0; c < width; ++c) {
        table[t * width + c] = Real(float(formula(double(t), c)));
      }
    }
    return table;
  };
}

void check(Index longest, Index width) {
  const double all = double(width);
  const auto wave = [](Index c, double angle) {
    return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
  };
  const auto scale = [](double exponent) { return std::pow(10000.0, exponent); };
  const auto of = [&](auto formula) { return each(longest, width, formula); };
  const auto by_exponent = [=](auto exponent) {
    return each(longest, width, [=](double t, Index c) { return wave(c, t / scale(exponent(c))); });
  };
  const auto pair = [=](Index c) { return double(c - c % 2) / all; };
  std::vector<chapter::Hypothesis> hypotheses = {
      {"sine and cosine of a pair have different frequencies: the exponent is 2i / C for both, "
       "where 2i is the even channel of the pair",
       by_exponent([=](Index c) { return double(c) / all; })},
      {"the channel was doubled. In 2i / C, i counts the pairs, so 2i is the even channel itself: "
       "0, 0, 2, 2, 4, 4",
       by_exponent([=](Index c) { return 2 * double(c) / all; })},
      {"the channel was doubled. In 2i / C, 2i is the even channel itself: 0, 0, 2, 2, 4, 4",
       by_exponent([=](Index c) { return 2 * pair(c); })},
      {"all channels have the same frequency: an integer divided by a larger one is 0",
       by_exponent([](Index) { return 0.0; })},
      {"the position was multiplied by 10000^(2i / C), not divided: the later pairs turn faster "
       "than from one token to the next",
       by_exponent([=](Index c) { return -pair(c); })},
      {"sine and cosine were exchanged: even channels have the sine",
       of([=](double t, Index c) { return wave(c + 1, t / scale(pair(c))); })},
      {"the first position was counted as 1: it is 0",
       of([=](double t, Index c) { return wave(c, (t + 1) / scale(pair(c))); })}};
  if (width % 2 == 0) {
    hypotheses.push_back(
        {"all sines came first, then all cosines. A model that is trained with it does not mind; "
         "the "
         "paper's order takes turns, and weights of the one do not fit the other",
         of([=](double t, Index c) {
           const double angle = t / scale(2 * double(c % (width / 2)) / all);
           return c < width / 2 ? std::sin(angle) : std::cos(angle);
         })});
  }
  chapter::require_values([=] { return table_of(longest, width); },
                          of([=](double t, Index c) { return wave(c, t / scale(pair(c))); })(),
                          names, hypotheses);
}

}  // namespace

TEST_CASE("values: the sine and the cosine of the pair's angle", "[09/3]") {
  check(9, 8);
  check(40, 12);
}

TEST_CASE("values: an odd width", "[09/3]") { check(7, 5); }

TEST_CASE("the table is a constant", "[09/3]") {
  chapter::require(!table_of(4, 6).requires_grad(),
                   "the table is a parameter: it would get gradients, and training would change "
                   "it. These positions are fixed.");
}

TEST_CASE("two positions at the same distance have the same dot product", "[09/3]") {
  const Index longest = 30, width = 16;
  const Array table = table_of(longest, width).value();
  const auto product = [&](Index s, Index t) {
    double sum = 0;
    for (Index c = 0; c < width; ++c) {
      sum += double(table[s * width + c]) * double(table[t * width + c]);
    }
    return sum;
  };
  for (Index distance = 0; distance < longest; ++distance) {
    for (Index s = 0; s + distance < longest; ++s) {
      chapter::require(std::abs(product(s, s + distance) - product(0, distance)) < 1e-4,
                       "the dot product of two rows depends on where they are, not only on their "
                       "distance: sine and cosine of a pair need the same angle.");
    }
  }
}

TEST_CASE("learned positions are still drawn", "[09/3]") {
  Rng rng(1, "09/3");
  const Positions positions(PositionKind::learned, 4, 6, rng);
  chapter::require(positions.weight.requires_grad() && positions.weight.value()[0] != 0,
                   "the branch for PositionKind::learned changed; it was complete.");
}
