// Checks the table of the layer Positions against the formula.
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

void check(Index longest, Index width) {
  Array table({longest, width});
  for (Index t = 0; t < longest; ++t) {
    for (Index c = 0; c < width; ++c) {
      const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      table[t * width + c] = Real(float(c % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  chapter::require_values([=] { return table_of(longest, width); }, table, names);
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
