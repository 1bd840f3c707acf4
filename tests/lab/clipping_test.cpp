// clipping: norms, and the share that the other heads keep, from gradients by finite differences.
#include <cmath>

#include "lab/plain_layer.hpp"

using namespace headroom;
using namespace lab_test;

namespace {

constexpr Index width = 8, heads = 2, d = width / heads;

/// Sums of squares of each head's blocks: Q, K, V and O.
struct Squares {
  double of[heads][4] = {};
};

Squares squares_of(std::uint64_t seed, std::uint64_t draw) {
  const AttentionConfig config{.width = width, .heads = heads, .bias = false};
  Rng rng(seed, "clipping", draw);
  PlainLayer plain{FusedHeads(config, rng)};
  const PlainTask task(width, heads, seed_of_draw(seed, draw), false);
  const Numbers in = task.gradient(plain, plain.in_weight, 0),
                out = task.gradient(plain, plain.out_weight, 0);
  Squares result;
  for (Index row = 0; row < 3 * width; ++row) {
    for (Index c = 0; c < width; ++c) {
      result.of[row % width / d][row / width] += std::pow(PlainLayer::at(in, row * width + c), 2);
    }
  }
  for (Index i = 0; i < width * width; ++i) {
    result.of[i % width / d][3] += std::pow(PlainLayer::at(out, i), 2);
  }
  return result;
}

}  // namespace

TEST_CASE("clipping holds for any seed and size") {
  check_holds("clipping", {{8, 2, 1}, {12, 3, 2}, {16, 16, 3}, {64, 8, 4}}, 11);
}

TEST_CASE("clipping reports norms and shares that finite differences give") {
  const std::uint64_t seed = 4;
  const Record record = run("clipping", width, heads, seed);
  std::vector<double> whole, of_tensors, of_projections, of_heads, kept;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    const Squares squares = squares_of(seed, draw);
    double all = 0, scaled = 0, in = 0, out = 0, head = 0, projection = 0;
    for (int role = 0; role < 4; ++role) {
      double both = 0;
      for (int h = 0; h < 2; ++h) {
        const double part = squares.of[h][role];
        all += part;
        both += part;
        (role < 3 ? in : out) += part;
        head = std::max(head, part);
        if (h == 0) scaled += part;
      }
      projection = std::max(projection, both);
    }
    whole.push_back(std::sqrt(all));
    of_tensors.push_back(std::sqrt(std::max(in, out)));
    of_projections.push_back(std::sqrt(projection));
    of_heads.push_back(std::sqrt(head));
    // The limit is 1.001 times the norm before head 0's gradient became 100 times larger.
    const double after = std::sqrt(all + (100.0 * 100 - 1) * scaled);
    kept.push_back((1.001 * std::sqrt(all) + 1e-6) / (after + 1e-6));
  }
  const Record& norms = block_with(record, "fused: norm")["rows"];
  CHECK(in_words(norms[0][2]) == mean_interval(whole).text());
  CHECK(in_words(norms[1][2]) == mean_interval(of_tensors).text());
  CHECK(in_words(norms[2][2]) == mean_interval(of_projections).text());
  CHECK(in_words(norms[3][2]) == mean_interval(of_heads).text());
  const Record& shares = block_with(record, "other heads: W_O")["rows"];
  CHECK(shares[0][0] == "global");
  CHECK(in_words(shares[0][1]) == mean_interval(kept).text());
  CHECK(in_words(shares[0][2]) == mean_interval(kept).text());
  CHECK(in_words(shares[0][3]) == mean_interval(kept).text());
  CHECK(shares[4][0] == "per head");
  CHECK(in_words(shares[4][1]) == "1 [1, 1]");
}
