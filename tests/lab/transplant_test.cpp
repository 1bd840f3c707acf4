// transplant: a gradient in both layouts against differences of a plain, causal forward pass.
#include <cmath>

#include "lab/lab_support.hpp"

using namespace headroom;

namespace {

/// sum of cotangent * y for a causal self-attention, in plain loops and in double. `query` replaces
/// the layer's W_Q of all heads, [C, C].
double causal_loss(const NamedArrays& parts, const lab_test::Matrix& query, const Array& x,
                   const Array& cotangent, Index heads) {
  const Index batch = x.dim(0), tokens = x.dim(1), width = x.dim(2), d = width / heads;
  const auto number = [](Real value) { return double(value); };
  double loss = 0;
  for (Index b = 0; b < batch; ++b) {
    const auto k = lab_test::plain_linear(x, b, parts.at("self.key.weight"),
                                          parts.at("self.key.bias"), 0, width);
    const auto v = lab_test::plain_linear(x, b, parts.at("self.value.weight"),
                                          parts.at("self.value.bias"), 0, width);
    for (Index t = 0; t < tokens; ++t) {
      std::vector<double> joined(static_cast<std::size_t>(width));
      for (Index h = 0; h < heads; ++h) {
        std::vector<double> weight;
        double sum = 0;
        for (Index j = 0; j <= t; ++j) {
          double score = 0;
          for (Index c = h * d; c < (h + 1) * d; ++c) {
            const auto channel = std::size_t(c);
            double q = number(parts.at("self.query.bias")[c]);
            for (Index i = 0; i < width; ++i) {
              q += query[channel][static_cast<std::size_t>(i)] *
                   number(x[(b * tokens + t) * width + i]);
            }
            score += q * at(k, j)[channel];
          }
          weight.push_back(std::exp(score / std::sqrt(double(d))));
          sum += weight.back();
        }
        for (Index c = h * d; c < (h + 1) * d; ++c) {
          for (Index j = 0; j <= t; ++j) {
            at(joined, c) += at(weight, j) / sum * at(at(v, j), c);
          }
        }
      }
      for (Index o = 0; o < width; ++o) {
        double y = number(parts.at("output.dense.bias")[o]);
        for (Index i = 0; i < width; ++i) {
          y += number(parts.at("output.dense.weight")[o * width + i]) * at(joined, i);
        }
        loss += y * number(cotangent[(b * tokens + t) * width + o]);
      }
    }
  }
  return loss;
}

}  // namespace

TEST_CASE("transplant holds for any seed and size") {
  lab_test::check_holds(
      "transplant", {{4, 1, 1}, {8, 2, 2}, {12, 3, 3}, {40, 5, 4}, {64, 16, 5}, {96, 6, 6}}, 26);
}

TEST_CASE("transplant shows the gradient that differences give, and counts the parameters") {
  const Index width = 8, heads = 2, d = 4;
  const Record record = lab_test::run("transplant", width, heads, 3);

  // The same draws: the layer in both layouts, its biases, the input, the cotangent.
  Rng rng(3, "transplant picture");
  const AttentionConfig config{.width = width, .heads = heads};
  const auto layer = make_attention(Layout::separate, config, rng);
  make_attention(Layout::fused, config, rng);
  for (auto& [name, tensor] : parameters(*layer)) {
    if (tensor.rank() == 1) tensor.set_value(normal(tensor.shape(), Real(0.2), rng));
  }
  const NamedArrays parts = export_attention(*layer, ForeignLayout::bert);
  const Array x = normal({2, 10, width}, 1, rng), cotangent = normal(x.shape(), 1, rng);
  lab_test::Matrix query;
  for (Index o = 0; o < width; ++o) {
    query.emplace_back();
    for (Index i = 0; i < width; ++i) {
      query.back().push_back(double(parts.at("self.query.weight")[o * width + i]));
    }
  }
  const Record& shown = lab_test::block_with(record, "dW_Q of head 1")["steps"][0]["parts"];
  REQUIRE(shown.size() == 2);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t c = 0; c < 2; ++c) {
      double& weight = query[static_cast<std::size_t>(d) + r][c];
      const double before = weight, step = 1e-5;
      weight = before + step;
      const double up = causal_loss(parts, query, x, cotangent, heads);
      weight = before - step;
      const double down = causal_loss(parts, query, x, cotangent, heads);
      weight = before;
      const double expected = (up - down) / (2 * step);
      for (const Record& part : shown) {
        const double found = part["corner"][r][c];
        INFO(part["name"] << " " << r << " " << c);
        CHECK(std::abs(found - expected) < (is_double ? 1e-7 : 1e-4) * (1 + std::abs(expected)));
      }
    }
  }

  for (const Record& row : lab_test::block_with(record, "tensors, separate")["rows"]) {
    const Index h = row[0];
    CHECK(row[1] == 4 * width * width + 4 * width);
    CHECK(row[2] == row[1]);
    CHECK(row[3] == 3 * h * 2 + 2);
    CHECK(row[4] == 4);
  }
}
