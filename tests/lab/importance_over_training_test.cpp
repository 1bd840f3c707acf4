// importance-over-training: the numbers before training by other means, on heads whose W_O is
// scaled.
#include <cmath>
#include <numbers>

#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

namespace {

constexpr Index tokens = 6, examples = 128, width = 16, heads = 4, d = width / 4;

/// An untrained model and its examples, drawn as the experiment draws them.
struct Start {
  Array x = zeros({examples, tokens, width}), target = zeros({examples, tokens, 2 * d});
  Rng rng;
  Linear in;
  FusedHeads layer;
  Linear out;

  explicit Start(std::uint64_t seed)
      : rng(seed, "importance-over-training start"),
        in(width, width, rng),
        layer({.width = width, .heads = heads}, rng),
        out(width, 2 * d, rng) {
    Rng data(seed, "importance-over-training held out", 0);
    const Array content = normal({examples * tokens, d}, 1, data);
    const auto angle = [](Index t) { return 2 * std::numbers::pi * double(t) / double(tokens); };
    for (Index row = 0; row < examples * tokens; ++row) {
      const Index t = row % tokens, first = row - t;
      const Index pointer = (t + data.below(tokens - 1)) % tokens;
      Real* const to = x.data() + row * width;
      const Index marks[] = {t, pointer};
      for (Index m = 0; m < 2; ++m) {
        to[d + 2 * m] = 2 * Real(std::cos(angle(marks[m])));
        to[d + 2 * m + 1] = 2 * Real(std::sin(angle(marks[m])));
      }
      const Index keys[] = {(t + tokens - 1) % tokens, pointer};
      for (Index c = 0; c < d; ++c) {
        to[c] = content[row * d + c];
        for (Index k = 0; k < 2; ++k) {
          target[row * 2 * d + k * d + c] = content[(first + keys[k]) * d + c];
        }
      }
    }
  }

  /// The mean squared error with the head's columns of W_O multiplied by a factor.
  double loss(Index head, double factor) {
    const NoGrad quiet;
    const Array whole = layer.out_proj.weight.value().clone();
    Array scaled = whole.clone();
    for (Index i = 0; i < scaled.size(); ++i) {
      if (i % width / (width / heads) == head) scaled[i] *= Real(factor);
    }
    layer.out_proj.weight.set_value(scaled);
    const Tensor inner = in(Tensor(x));
    const Array y = out(layer(inner, inner, AttentionMask::none())).value();
    layer.out_proj.weight.set_value(whole);
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i) sum += std::pow(double(y[i]) - double(target[i]), 2);
    return sum / double(y.size());
  }
};

}  // namespace

TEST_CASE("importance-over-training holds for any seed and size") {
  check_holds("importance-over-training", {{24, 6, 2}, {16, 4, 1}}, 7);
}

TEST_CASE("importance-over-training: loss, slope and cost before training") {
  const Record record = run("importance-over-training", width, heads, 3);
  double loss = 0, slope = 0, cost = 0;
  constexpr int seeds = 10;
  for (std::uint64_t draw = 0; draw < seeds; ++draw) {
    Start start(seed_of_draw(3, draw));
    const double whole = start.loss(0, 1);
    loss += whole / seeds;
    for (Index head = 0; head < heads; ++head) {
      const double all = seeds * heads;
      cost += (start.loss(head, 0) - whole) / all;
      // The loss is a parabola in the factor, so the central difference is exact.
      slope += std::abs(start.loss(head, 1.5) - start.loss(head, 0.5)) / all;
    }
  }
  const Record& row = block_with(record, "cost / slope")["rows"][0];
  CHECK(row[0] == 0);
  const double tolerance = is_double ? 1e-10 : 2e-5;
  CHECK(std::abs(row[1]["value"].get<double>() - loss) < tolerance);
  CHECK(std::abs(row[2]["value"].get<double>() - slope) < tolerance);
  CHECK(std::abs(row[4]["value"].get<double>() - cost) < tolerance);
  CHECK(slope > 1e-3);
}
