// dead-parameters: gradients by finite differences, and b_V's part of the output in plain loops.
#include <algorithm>

#include "headroom/base/at.hpp"
#include "lab/plain_layer.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("dead-parameters holds for any seed and size") {
  check_holds("dead-parameters", {{8, 2, 1}, {4, 1, 2}, {12, 1, 3}}, 10);
}

TEST_CASE("dead-parameters reports the gradients of the biases that finite differences give") {
  const Index width = 8, heads = 2;
  const std::uint64_t seed = 2;
  const Record record = run("dead-parameters", width, heads, seed);
  std::vector<double> query, value;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    Rng rng(seed, "dead-parameters", draw);
    FusedHeads layer({.width = width, .heads = heads}, rng);
    const FusedHeads other({.width = width, .heads = heads}, rng);  // the copy draws, too
    draw_parameters(layer, rng);
    PlainLayer plain(layer);
    const Numbers slope =
        PlainTask(width, heads, seed_of_draw(seed, draw)).gradient(plain, plain.in_bias, 0);
    const auto largest = [&](Index third) {
      double most = 0;
      for (Index i = third * width; i < (third + 1) * width; ++i) {
        most = std::max(most, std::abs(at(slope, i)));
      }
      return most;
    };
    query.push_back(largest(0));
    value.push_back(largest(2));
    CHECK(largest(1) < 1e-9);  // of finite differences: zero except rounding
  }
  for (const Record& row : block_with(record, "dL/db_K")["rows"]) {
    CHECK(in_words(row[1]) == mean_interval(query).text());
    CHECK(in_words(row[3]) == mean_interval(value).text());
  }
}

TEST_CASE("dead-parameters reports the difference that folding b_V makes in rows without keys") {
  const Index width = 8, heads = 2, batch = 4, tokens = 8;
  const std::uint64_t seed = 5;
  const Record record = run("dead-parameters", width, heads, seed);
  std::vector<double> differences;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    Rng rng(seed, "bias folding", draw);
    FusedHeads layer({.width = width, .heads = heads}, rng);
    const FusedHeads other({.width = width, .heads = heads}, rng);
    draw_parameters(layer, rng);
    const Array x = normal({batch, tokens, width}, 1, rng);
    const PlainLayer plain(layer);
    PlainLayer folded = plain;
    for (Index o = 0; o < width; ++o) {
      for (Index i = 0; i < width; ++i) {
        at(folded.out_bias, o) += PlainLayer::at(plain.out_weight, o * width + i) *
                                  PlainLayer::at(plain.in_bias, 2 * width + i);
      }
    }
    std::fill(folded.in_bias.begin() + 2 * width, folded.in_bias.end(), 0);
    double difference = 0, size = 0;
    for (Index b = 0; b < batch; ++b) {
      const auto keys = static_cast<std::size_t>(b == 0 ? 0 : 2 * b + 1);
      const Matrix example = example_of(x, b), y = plain(example, keys), z = folded(example, keys);
      for (std::size_t t = 0; t < y.size(); ++t) {
        for (std::size_t c = 0; c < y[t].size(); ++c) {
          difference = std::max(difference, std::abs(y[t][c] - z[t][c]));
          size = std::max({size, std::abs(y[t][c]), std::abs(z[t][c])});
        }
      }
    }
    differences.push_back(difference / size);
  }
  const Record& rows = block_with(record, "rows of attention sum to")["rows"];
  CHECK(rows[3][0] == "padding, one example without keys");
  CHECK(in_words(rows[3][2]) == mean_interval(differences).text());
}

TEST_CASE("dead-parameters: Adam's first step is its learning rate, for noise as for a gradient") {
  const Record record = run("dead-parameters", 16, 2, 1);
  const Record& lines = block_with(record, "b_Q, Adam")["series"];
  const auto first = [&](std::size_t line) { return lines[line]["points"][0][1].get<double>(); };
  CHECK(lines[2]["name"] == "b_K, Adam, epsilon 1e-30");
  CHECK(lines[4]["name"] == "b_Q, Adam");
  CHECK(off(first(4), 0.01) < 0.01);
  CHECK(first(2) <= 0.01 * (1 + 1e-6));
  CHECK(first(2) > 0.005);
  CHECK(first(0) < 1e-3 * first(3));  // SGD: noise stays noise
}
