// optimizers: losses, and LAMB's updates around a scaled head, in plain loops.
#include <cmath>
#include <map>

#include "lab/plain_layer.hpp"

using namespace headroom;
using namespace lab_test;

namespace {

constexpr Index width = 8, heads = 2, d = width / heads;
constexpr AttentionConfig config{.width = width, .heads = heads, .bias = false};

/// LAMB without decay on a plain layer, its weights one after the other: in_weight, out_weight.
class PlainLamb {
 public:
  PlainLamb(const PlainLayer& layer, bool per_head) : weights(joined(layer)), per_head_(per_head) {
    m_.resize(weights.size(), 0);
    v_.resize(weights.size(), 0);
  }

  static Numbers joined(const PlainLayer& layer) {
    Numbers all = layer.in_weight;
    all.insert(all.end(), layer.out_weight.begin(), layer.out_weight.end());
    return all;
  }
  static Index head_of(Index i) {
    const Index inputs = 3 * width * width;
    return i < inputs ? i / width % width / d : i % width / d;
  }

  void step(const Numbers& gradient) {
    ++steps_;
    Numbers direction;
    std::map<Index, double> p_squares, u_squares;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      m_[i] = 0.9 * m_[i] + 0.1 * gradient[i];
      v_[i] = 0.999 * v_[i] + 0.001 * gradient[i] * gradient[i];
      const double m = m_[i] / (1 - std::pow(0.9, steps_)),
                   v = v_[i] / (1 - std::pow(0.999, steps_));
      direction.push_back(m / (std::sqrt(v) + 1e-6));
      p_squares[block_of(i)] += weights[i] * weights[i];
      u_squares[block_of(i)] += direction[i] * direction[i];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] -=
          0.02 * std::sqrt(p_squares[block_of(i)] / u_squares[block_of(i)]) * direction[i];
    }
  }

  Numbers weights;

 private:
  Index block_of(std::size_t place) const {
    const auto i = Index(place);
    const Index third = i / (width * width);  // Q, K, V, O
    return per_head_ ? third * heads + head_of(i) : third / 3;
  }
  bool per_head_;
  int steps_ = 0;
  Numbers m_, v_;
};

/// Every head's last update with head 0's gradient scaled, divided by the update without scaling.
std::vector<double> ratios(std::uint64_t seed, bool per_head) {
  Rng rng(seed, "loud head");
  PlainLayer layer{FusedHeads(config, rng)};
  const PlainTask task(width, heads, seed, false);
  PlainLamb unscaled(layer, per_head), scaled(layer, per_head);
  Numbers before;
  for (Index step = 0; step <= 10; ++step) {
    Numbers gradient = task.gradient(layer, layer.in_weight, step);
    const Numbers out = task.gradient(layer, layer.out_weight, step);
    gradient.insert(gradient.end(), out.begin(), out.end());
    before = unscaled.weights;
    unscaled.step(gradient);
    for (std::size_t i = 0; i < gradient.size() && step == 10; ++i) {
      if (PlainLamb::head_of(Index(i)) == 0) gradient[i] *= 100;
    }
    scaled.step(gradient);
    const auto middle = unscaled.weights.begin() + 3 * width * width;
    layer.in_weight.assign(unscaled.weights.begin(), middle);
    layer.out_weight.assign(middle, unscaled.weights.end());
  }
  std::vector<double> a(heads, 0), b(heads, 0), result;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto head = std::size_t(PlainLamb::head_of(Index(i)));
    a[head] += std::pow(unscaled.weights[i] - before[i], 2);
    b[head] += std::pow(scaled.weights[i] - before[i], 2);
  }
  for (std::size_t head = 0; head < heads; ++head) result.push_back(std::sqrt(b[head] / a[head]));
  return result;
}

const Record& line_of(const Record& block, const std::string& name) {
  for (const Record& line : block["series"]) {
    if (line["name"] == name) return line["points"];
  }
  FAIL("no line " << name);
  return block;
}

}  // namespace

TEST_CASE("optimizers holds for any seed and size", "[long]") {
  check_holds("optimizers", {{8, 2, 9}, {16, 4, 2}}, 10);
}

TEST_CASE("optimizers reports losses and LAMB's updates as plain loops find them", "[long]") {
  const std::uint64_t seed = 2;
  const Record record = run("optimizers", width, heads, seed);
  for (const bool per_head : {false, true}) {
    const std::string name = per_head ? "LAMB per head" : "LAMB per tensor, fused";
    INFO(name);
    const Record& points = line_of(block_with(record, "LAMB per tensor, fused"), name);
    std::vector<double> expected(heads, 0);
    for (std::uint64_t draw = 0; draw < 5; ++draw) {
      const std::vector<double> one = ratios(seed_of_draw(seed, draw), per_head);
      for (std::size_t head = 0; head < one.size(); ++head) expected[head] += one[head] / 5;
    }
    for (std::size_t head = 0; head < expected.size(); ++head) {
      CHECK(off(points[head][1].get<double>(), expected[head]) < (is_double ? 1e-4 : 1e-2));
    }
    if (per_head) CHECK(points[1][1] == 1);
    if (!per_head) CHECK(std::abs(points[1][1].get<double>() - 1) > 1e-5);
  }
  double first = 0;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    Rng rng(seed_of_draw(seed, draw), "optimizers");
    const PlainLayer layer{FusedHeads(config, rng)};
    first += PlainTask(width, heads, seed_of_draw(seed, draw), false).loss(layer, 0) / 5;
  }
  const Record& chart = block_with(record, "loss over that per tensor");
  CHECK(chart["rows"].size() == 9);
  for (const Record& row : chart["rows"]) CHECK(row[4]["low"] > 0);  // milliseconds
  CHECK_THAT(in_words(record["answer"]), Catch::Contains("its step takes"));
  bool found = false;
  for (const Record& block : record["blocks"]) {
    if (!block.contains("y") || block["y"] != "mean squared error") continue;
    found = true;
    CHECK(off(line_of(block, "SGD")[0][1].get<double>(), first) < 1e-5);
  }
  CHECK(found);
}
