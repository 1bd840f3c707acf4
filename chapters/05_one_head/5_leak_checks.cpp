// Checks the attention of 05/5 by changing tokens, examples and weights, and then against plain
// loops.
#include "5_leak.hpp"

#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/transplant.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 6, width = 4;

struct Case {
  explicit Case(std::uint64_t seed)
      : rng(seed, "05/5"), layer{random_matrix(), random_matrix(), random_matrix()} {
    x = random_array({batch, tokens, width}, rng);
  }
  Tensor random_matrix() { return parameter(random_array({width, width}, rng)); }
  Array output(const Array& input) const {
    const NoGrad quiet;
    return attend(layer, Tensor(input)).y.value();
  }
  /// x with random changes of one token of one example.
  Array changed(Index example, Index token) {
    Array other = x.clone();
    for (Index c = 0; c < width; ++c) {
      other[(example * tokens + token) * width + c] += rng.normal();
    }
    return other;
  }
  /// Whether the gradient of the outputs before the last one reaches the last token.
  bool gradient_reaches_the_last() const {
    const Tensor input = parameter(x.clone());
    const Tensor y = attend(layer, input).y;
    Array dy(y.shape(), 1);
    for (Index e = 0; e < dy.size(); ++e) dy[e] = e / width % tokens < tokens - 1 ? Real(e) : 0;
    y.backward(dy);
    for (Index e = 0; e < x.size(); ++e) {
      const bool last = e / width % tokens == tokens - 1;
      if (last && std::abs(double(input.grad()[e])) > chapter::tolerance) return true;
    }
    return false;
  }

  Rng rng;
  MeasuredAttention layer;
  Array x;
};

/// How far output `token` moved.
double moved(const Array& before, const Array& after, Index token) {
  const AxisRange part{1, token, token + 1};
  return largest_difference(slice(before, part), slice(after, part));
}

/// Plain loops: the scores of the tokens up to i, with mean 0 and deviation 1, and their average.
Array plain(const Case& c) {
  const auto product = [&](const Tensor& matrix) {
    Array result = zeros(c.x.shape());
    for (Index e = 0; e < result.size(); ++e) {
      for (Index d = 0; d < width; ++d) {
        result[e] += matrix.value()[e % width * width + d] * c.x[e / width * width + d];
      }
    }
    return result;
  };
  const Array q = product(c.layer.query), k = product(c.layer.key), v = product(c.layer.value);
  Array y = zeros(c.x.shape());
  for (Index row = 0; row < batch * tokens; ++row) {
    const Index first = row / tokens * tokens;
    std::vector<double> scores;
    for (Index j = first; j <= row; ++j) {
      double score = 0;
      for (Index d = 0; d < width; ++d) score += double(q[row * width + d] * k[j * width + d]);
      scores.push_back(score);
    }
    double mean = 0, variance = 0, sum = 0;
    const auto n = double(scores.size());
    for (const double score : scores) mean += score / n;
    for (const double score : scores) variance += (score - mean) * (score - mean) / n;
    for (double& score : scores)
      sum += score = std::exp((score - mean) / std::sqrt(variance + 1e-6));
    for (Index j = first; j <= row; ++j) {
      const auto weight = Real(scores[std::size_t(j - first)] / sum);
      for (Index d = 0; d < width; ++d) y[row * width + d] += weight * v[j * width + d];
    }
  }
  return y;
}

/// The same attention by operations of the library.
Tensor by_operations(const MeasuredAttention& layer, const Tensor& x) {
  Bytes allowed({tokens, tokens});
  Array shares({tokens, tokens}, 0);
  for (Index e = 0; e < allowed.size(); ++e) {
    const Index query = e / tokens;
    allowed[e] = e % tokens <= query ? 1 : 0;
    if (allowed[e] != 0) shares[e] = Real(1) / Real(query + 1);
  }
  const auto mean = [&](const Tensor& of) { return sum(of * Tensor(shares), {-1}, true); };
  const Tensor scores = matmul(linear(x, layer.query, {}), transpose(linear(x, layer.key, {})));
  const Tensor centred = scores - mean(scores);
  const Tensor deviation = sqrt(mean(centred * centred) + Real(1e-6));
  const Tensor map = masked_softmax(centred / deviation, allowed);
  return matmul(map, linear(x, layer.value, {}));
}

constexpr double noticeable = is_double ? 1e-9 : 1e-4;

}  // namespace

TEST_CASE("the map: rows sum to 1, 0 above the diagonal", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const NoGrad quiet;
    const Array map = attend(c.layer, Tensor(c.x)).map.value();
    for (Index row = 0; row < batch * tokens; ++row) {
      double sum = 0;
      for (Index j = 0; j < tokens; ++j) {
        const auto weight = double(map[row * tokens + j]);
        sum += weight;
        if (j <= row % tokens) continue;
        chapter::require(weight == 0, fmt::format("query {} gives the weight {:.3g} to token {}",
                                                  row % tokens, weight, j));
      }
      chapter::require(std::abs(sum - 1) < 1e-5,
                       fmt::format("the weights of query {} sum to {:.3g}", row % tokens, sum));
    }
  }
}

TEST_CASE("no token moves an output before it", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Array before = c.output(c.x), after = c.output(c.changed(0, tokens - 1));
    for (Index i = 0; i + 1 < tokens; ++i) {
      const double distance = moved(before, after, i);
      if (distance == 0) continue;
      FAIL(fmt::format(
          "changing the last token moved output {} by {:.2g}, although its weight in row {} is "
          "0.{}",
          i, distance, i,
          c.gradient_reaches_the_last()
              ? "\nSomething else in that row is made of all tokens."
              : "\nNo gradient goes from that output to the last token: detach() hides a leak from "
                "the backward pass, and a test of gradients sees nothing. The values still "
                "leak."));
    }
    SUCCEED();
  }
}

TEST_CASE("no other text moves an output", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Array before = c.output(c.x), after = c.output(c.changed(1, 0));
    const AxisRange first{0, 0, 1};
    chapter::require(largest_difference(slice(before, first), slice(after, first)) == 0,
                     "changing a token of example 1 moved outputs of example 0: the examples of a "
                     "batch are mixed.");
    const Array shorter = c.output(slice(c.x, {1, 0, tokens - 2}));
    for (Index i = 0; i < tokens - 2; ++i) {
      chapter::require(
          moved(shorter, before, i) < noticeable,
          fmt::format(
              "without the last two tokens, output {} is another one, although no change of "
              "a token moves it: it knows how many tokens follow. Elements that are not "
              "allowed must not be counted, not even as 0.",
              i));
    }
  }
}

TEST_CASE("three times longer queries, the same map", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Array before = c.output(c.x);
    Array longer = c.layer.query.value().clone();
    for (Index e = 0; e < longer.size(); ++e) longer[e] *= 3;
    c.layer.query = parameter(longer);
    const double distance = largest_difference(before, c.output(c.x));
    chapter::require(distance < 0.01,
                     fmt::format("with queries that are three times as long, outputs moved by "
                                 "{:.2g}: the scores are not divided by their deviation.\nIt does "
                                 "not leak, but the layer's other promise is broken.",
                                 distance));
  }
}

TEST_CASE("values", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_equal("the outputs", plain(c), c.output(c.x),
                           {{"batch", "token", "channel"}, {}});
  }
}

TEST_CASE("gradients", "[05/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Tensor x = parameter(c.x);
    const Array dy = random_array(c.x.shape(), c.rng);
    const std::pair<const char*, Tensor> parts[] = {
        {"x", x}, {"query", c.layer.query}, {"key", c.layer.key}, {"value", c.layer.value}};
    by_operations(c.layer, x).backward(dy);
    std::vector<chapter::Input> inputs;
    for (auto [name, tensor] : parts) {
      inputs.push_back({name, tensor, tensor.grad().clone()});
      tensor.zero_grad();
    }
    chapter::require_gradients([&] { return attend(c.layer, x).y; }, dy, inputs);
  }
}
