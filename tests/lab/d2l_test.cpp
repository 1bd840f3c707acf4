// d2l: its heat maps against plain loops.
#include <cmath>

#include "headroom/nn/fused_heads.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("d2l holds for any seed and size") {
  check_holds("d2l", {{10, 5, 1}, {10, 5, 2}, {1, 1, 3}, {12, 3, 4}, {64, 8, 5}}, 8);
}

TEST_CASE("d2l draws the weights that plain loops give, zeros beyond valid_lens included") {
  const Record record = run("d2l", 10, 5, 4);
  Rng rng(4, "d2l");
  FusedHeads layer({.width = 10, .heads = 5, .bias = false}, rng);
  const Array x = normal({1, 4, 10}, 2, rng), y = normal({1, 6, 10}, 2, rng);
  const Array& w = layer.in_proj_weight.value();
  const Record& maps = block_with(record, "head 1")["maps"];
  REQUIRE(maps.size() == 6);  // the exercise's own, and five heads
  const Record& measures = block_with(record, "output variance")["rows"];
  for (Index h = 0; h < 5; ++h) {
    const Matrix q = plain_linear(x, 0, w, {}, h * 2, h * 2 + 2);
    const Matrix k = plain_linear(y, 0, w, {}, 10 + h * 2, 10 + h * 2 + 2);
    const Matrix v = plain_linear(y, 0, w, {}, 20 + h * 2, 20 + h * 2 + 2);
    double means[2] = {0, 0}, squares[2] = {0, 0};  // of the head's two output features
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<double> weight;
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        weight.push_back(std::exp((q[i][0] * k[j][0] + q[i][1] * k[j][1]) / std::sqrt(2.0)));
        sum += weight.back();
      }
      const Record& row = maps[std::size_t(h + 1)]["rows"][i];
      for (std::size_t j = 0; j < 6; ++j) {
        const double expected = j < 3 ? weight[j] / sum : 0;
        CHECK(std::abs(row[j].get<double>() - expected) < (is_double ? 1e-12 : 1e-5));
      }
      for (std::size_t c = 0; c < 2; ++c) {
        double a = 0;
        for (std::size_t j = 0; j < 3; ++j) a += weight[j] / sum * v[j][c];
        means[c] += a / 4;
        squares[c] += a * a / 4;
      }
    }
    const double variance =
        (squares[0] - means[0] * means[0] + squares[1] - means[1] * means[1]) / 2;
    const double reported = measures[std::size_t(h)][5];
    CHECK(off(reported, variance) < (is_double ? 1e-10 : 1e-3));
  }
  for (const Record& row : maps[0]["rows"]) {  // all ones: a third for each allowed key
    CHECK(std::abs(row[2].get<double>() - 1.0 / 3) < 1e-6);
    CHECK(row[3] == 0);
  }
}

TEST_CASE("d2l takes valid_lens for each query, and repeats them for every head") {
  const Record record = run("d2l", 12, 3, 2);
  const Record& rows = block_with(record, "shape of the weights")["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[1][1] == "[2]");
  CHECK(rows[2][1] == "[2, 4]");
  CHECK(rows[2][2] == "[6, 4, 6]");
}
