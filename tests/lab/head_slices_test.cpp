// head-slices: its numbers against plain loops over the same weights.
#include <cmath>

#include "headroom/base/at.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("head-slices holds for any seed and size") {
  check_holds("head-slices", {{1, 1, 1}, {6, 1, 2}, {4, 4, 3}, {12, 3, 4}, {40, 5, 5}, {64, 8, 6}},
              7);
}

TEST_CASE("head-slices reports the norms that plain loops give") {
  const Index width = 12, heads = 3, d = 4, batch = 2, tokens = 16;
  const Record record = run("head-slices", width, heads, 7);
  Rng rng(7, "head-slices");
  const Real deviation = 1 / std::sqrt(Real(width));
  std::vector<Array> weights, biases;
  for (int i = 0; i < 4; ++i) weights.push_back(normal({width, width}, deviation, rng));
  for (int i = 0; i < 4; ++i) biases.push_back(normal({width}, Real(0.1), rng));
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Record& rows = block_with(record, "norm of A_h W_O^h")["rows"];
  for (Index h = 0; h < heads; ++h) {
    double squares = 0;
    for (Index b = 0; b < batch; ++b) {
      const auto part = [&](std::size_t i) {
        return plain_linear(x, b, weights[i], biases[i], h * d, (h + 1) * d);
      };
      const Matrix a = plain_attention(part(0), part(1), part(2), 1 / std::sqrt(double(d)));
      for (const auto& row : a) {
        for (Index o = 0; o < width; ++o) {
          double y = 0;
          for (Index c = 0; c < d; ++c) {
            y += at(row, c) * double(weights[3][o * width + h * d + c]);
          }
          squares += y * y;
        }
      }
    }
    const double reported = rows[std::size_t(h)][3];
    CHECK(std::abs(reported / std::sqrt(squares) - 1) < (is_double ? 1e-12 : 1e-5));
  }
  CHECK(measured(record, "parameters removed per pruned head") == 4 * d * width + 3 * d);
}
