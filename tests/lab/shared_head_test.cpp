// shared-head: the gradient against finite differences of a plain forward pass.
#include <cmath>

#include "headroom/nn/shared_head.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("shared-head holds for any seed and size") {
  check_holds("shared-head", {{8, 2, 1}, {8, 2, 2}, {12, 3, 3}, {40, 5, 4}, {64, 16, 5}}, 10);
}

TEST_CASE("shared-head's cosine by chance is that of random normal vectors") {
  const Index width = 8, heads = 2, d = 4;
  const Record record = run("shared-head", width, heads, 1);
  const Record& rows = block_with(record, "by chance")["rows"];
  REQUIRE(rows.size() == 6);
  Rng rng(5, "cosines");
  for (const std::size_t row :
       {std::size_t{0}, std::size_t{3}}) {  // a small matrix; a head's rows of a full one
    const Index n = d * (row == 0 ? d : width), pairs = 20'000;
    double mean = 0;
    for (Index pair = 0; pair < pairs; ++pair) {
      double ab = 0, aa = 0, bb = 0;
      for (Index i = 0; i < n; ++i) {
        const auto a = double(rng.normal()), b = double(rng.normal());
        ab += a * b;
        aa += a * a;
        bb += b * b;
      }
      mean += std::abs(ab) / std::sqrt(aa * bb) / double(pairs);
    }
    INFO("n = " << n);
    // The mean of 20,000 pairs has a standard deviation of at most 0.006 of itself.
    CHECK(off(mean, rows[row][6].get<double>()) < 0.025);
  }
}

TEST_CASE("shared-head reports the weights, and the gradient that finite differences give") {
  const Index width = 8, heads = 2, d = 4, batch = 2, tokens = 12;
  const Record record = run("shared-head", width, heads, 3);
  CHECK(measured(record, "fused over shared") == 4);
  const Record& weights = block_with(record, "weights of Q, K, V")["rows"];
  CHECK(weights[0][2] == 3 * d * d);
  CHECK(weights[1][2] == 3 * width * width);

  // Both heads of five draws are one pair each; the first is shown.
  const Record& pair = block_with(record, "dW_K")["rows"];
  REQUIRE(pair.size() == 1);
  const Record& cosines = block_with(record, "mean |cosine|")["rows"];
  REQUIRE(cosines.size() == 6);
  for (std::size_t kind = 0; kind < 3; ++kind) {
    const double shown = pair[0][kind + 1];
    CHECK(cosines[kind][3].get<double>() <= shown);
    CHECK(cosines[kind][4].get<double>() >= shown);
  }

  // The same draws: the layer, its fused twin (not needed here), the input, the cotangent.
  Rng rng(3, "shared-head", 0);
  const AttentionConfig config{.width = width, .heads = heads, .bias = false};
  SharedHead layer(config, rng);
  const auto twin = make_attention(Layout::fused, config, rng);
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  std::vector<double> query;
  for (const Real w : layer.queries.weight.value().span()) query.push_back(double(w));
  const auto loss = [&] {
    double sum = 0;
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < heads; ++h) {
        const auto apply = [&](const auto& weight) {
          Matrix y;
          for (Index t = 0; t < tokens; ++t) {
            y.emplace_back();
            for (Index o = 0; o < d; ++o) {
              double s = 0;
              for (Index i = 0; i < d; ++i) {
                s +=
                    double(x[(b * tokens + t) * width + h * d + i]) * double(at(weight, o * d + i));
              }
              y.back().push_back(s);
            }
          }
          return y;
        };
        const Matrix a = plain_attention(apply(query), apply(layer.keys.weight.value().span()),
                                         apply(layer.values.weight.value().span()), 0.5);
        for (Index t = 0; t < tokens; ++t) {
          for (Index o = 0; o < width; ++o) {
            for (Index c = 0; c < d; ++c) {
              sum += double(cotangent[(b * tokens + t) * width + o]) *
                     double(layer.fc_out.weight.value()[o * width + h * d + c]) * at(at(a, t), c);
            }
          }
        }
      }
    }
    return sum;
  };
  double squares = 0;
  for (double& w : query) {
    const double before = w, step = 1e-5;
    w = before + step;
    const double up = loss();
    w = before - step;
    const double down = loss();
    w = before;
    squares += std::pow((up - down) / (2 * step), 2);
  }
  const double reported = block_with(record, "norm of dW, shared")["rows"][0][1];
  CHECK(std::abs(reported / std::sqrt(squares) - 1) < (is_double ? 1e-7 : 1e-4));
}
