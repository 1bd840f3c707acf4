// single-vs-multi: the printed gradients against finite differences of a plain forward pass.
#include <fmt/format.h>

#include <cmath>

#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("single-vs-multi holds for any seed and size") {
  check_holds("single-vs-multi", {{2, 2, 1}, {12, 3, 2}, {16, 4, 3}, {48, 8, 4}}, 9);
}

TEST_CASE("single-vs-multi reproduces the text at its own size", "[long]") {
  if (sanitized) return;  // the other sizes run
  const Record record = run("single-vs-multi", 0, 0);
  for (const std::string& failed : failed_claims_of(record)) FAIL_CHECK(failed);
  CHECK(measured(record, "share of draws that saturate") > 0.6);
  CHECK(measured(record, "seed 1, all rows one-hot") == 0);
  if (!is_double) {
    CHECK(measured(record, "seed 1, float: single.eq(multi) is True") == 1);
    CHECK(measured(record, "seed 6, float: single.eq(multi) is False") == 0);
    CHECK(measured(record, "seed 6, float: all heads pick the same keys") == 0);
    CHECK(measured(record, "share of draws that are True") > 0.35);
  }
  // Rows: equal, on the same keys, saturated, one-hot, saturated and on the same keys.
  const Record& rows = block_with(record, "draws")["rows"];
  CHECK(rows[4][1] <= rows[1][1]);
  CHECK(rows[4][1] <= rows[2][1]);
  CHECK(rows[3][1] <= rows[2][1]);
  for (const char* length : {"10", "16", "128"}) {
    const std::string words =
        fmt::format("512 features, 8 heads, {} tokens: cosine of dW_", length);
    CHECK(std::abs(measured(record, words + "Q") - 0.23) < 0.06);
    CHECK(std::abs(measured(record, words + "V") - 0.59) < 0.11);
  }
}

TEST_CASE("single-vs-multi prints the gradients that finite differences give") {
  const Index width = 8, heads = 2, batch = 2, tokens = 10;
  const Record record = run("single-vs-multi", width, heads, 5);
  Rng rng(5, "single-vs-multi derivation");
  const Real deviation = 1 / std::sqrt(Real(width));
  std::vector<Array> weights;  // W_Q, W_K, W_V, [in, out]
  for (int i = 0; i < 3; ++i) weights.push_back(normal({width, width}, deviation, rng));
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  std::vector<std::vector<double>> w(3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const Real number : weights[i].span()) w[i].push_back(double(number));
  }
  const auto loss = [&](Index h) {
    const Index d = width / h;
    double sum = 0;
    for (Index b = 0; b < batch; ++b) {
      for (Index head = 0; head < h; ++head) {
        const auto projected = [&](const std::vector<double>& weight) {
          Matrix y;
          for (Index t = 0; t < tokens; ++t) {
            y.emplace_back();
            for (Index c = head * d; c < (head + 1) * d; ++c) {
              double s = 0;
              for (Index i = 0; i < width; ++i) {
                s += double(x[(b * tokens + t) * width + i]) * at(weight, i * width + c);
              }
              y.back().push_back(s);
            }
          }
          return y;
        };
        const Matrix y = plain_attention(projected(w[0]), projected(w[1]), projected(w[2]),
                                         1 / std::sqrt(double(d)));
        for (Index t = 0; t < tokens; ++t) {
          for (Index c = 0; c < d; ++c) {
            sum += at(at(y, t), c) * double(cotangent[(b * tokens + t) * width + head * d + c]);
          }
        }
      }
    }
    return sum;
  };
  const auto slope = [&](double& number, Index h) {
    const double before = number, step = 1e-5;
    number = before + step;
    const double up = loss(h);
    number = before - step;
    const double down = loss(h);
    number = before;
    return (up - down) / (2 * step);
  };
  // Head 1's columns of dW_Q, whole: their norms with one head and with two, and the angle.
  double squares[2] = {0, 0}, product = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t c = 4; c < 8; ++c) {
      const double single = slope(w[0][i * 8 + c], 1), multi = slope(w[0][i * 8 + c], heads);
      squares[0] += single * single;
      squares[1] += multi * multi;
      product += single * multi;
    }
  }
  const Record& head = block_with(record, "Q: single")["rows"][1];
  const double close = is_double ? 1e-6 : 1e-3;
  CHECK(off(head[1].get<double>(), std::sqrt(squares[0])) < close);
  CHECK(off(head[2].get<double>(), std::sqrt(squares[1])) < close);
  CHECK(std::abs(head[3].get<double>() - product / std::sqrt(squares[0] * squares[1])) < close);

  const Record& steps = block_with(record, "dW_Q")["steps"];
  int compared = 0;
  for (const Record& step : steps) {
    const std::string name = step["name"];
    const std::size_t which = name == "dW_Q" ? 0 : name == "dW_K" ? 1 : name == "dW_V" ? 2 : 3;
    if (which == 3) continue;
    for (std::size_t part = 0; part < 2; ++part) {
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const double expected = slope(w[which][i * 8 + j], part == 0 ? 1 : heads);
          const double printed = step["parts"][part]["corner"][i][j];
          INFO(name << ", part " << part << ", " << i << ", " << j);
          CHECK(std::abs(printed - expected) < (is_double ? 1e-7 : 1e-3));
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 3 * 2 * 12);
}
