// euler: one head's terms against finite differences of a plain forward pass with one factor
// scaled.
#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

namespace {

/// <cotangent, y> with head 0 scaled: its output by `out`, its scores by `score`. Causal attention
/// with gates, in plain loops.
double loss(FusedHeads& layer, const Array& x, const Array& cotangent, const Array& gates,
            double out, double score) {
  const Index batch = x.dim(0), tokens = x.dim(1), width = x.dim(2);
  const Index heads = layer.config().heads, d = width / heads;
  double sum = 0;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      const auto part = [&](Index third) {
        const Index begin = third * width + h * d;
        return plain_linear(x, b, layer.in_proj_weight.value(), layer.in_proj_bias.value(), begin,
                            begin + d);
      };
      const Matrix q = part(0), k = part(1), v = part(2);
      const double scale = (h == 0 ? score : 1) / std::sqrt(double(d));
      const double gate = (h == 0 ? out : 1) * double(gates[h]);
      for (Index t = 0; t < tokens; ++t) {
        const auto seen = static_cast<std::ptrdiff_t>(t + 1);
        const Matrix a = plain_attention({at(q, t)}, Matrix(k.begin(), k.begin() + seen),
                                         Matrix(v.begin(), v.begin() + seen), scale);
        for (Index o = 0; o < width; ++o) {
          for (Index c = 0; c < d; ++c) {
            sum += double(cotangent[(b * tokens + t) * width + o]) * gate *
                   double(layer.out_proj.weight.value()[o * width + h * d + c]) * at(a[0], c);
          }
        }
      }
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("euler holds for any seed and size") {
  check_holds("euler", {{8, 2, 1}, {6, 6, 2}, {5, 1, 3}, {48, 3, 4}, {64, 8, 5}}, 9);
}

TEST_CASE("euler's terms of one head are the slopes that scaling it gives") {
  const Index width = 8, heads = 2, batch = 3, tokens = 6;
  const Record record = run("euler", width, heads, 7);

  // The same draws: the layer, its parameters anew, the input, the cotangent, the gates.
  Rng rng(7, "euler of one head");
  FusedHeads layer({.width = width, .heads = heads}, rng);
  for (NamedParameter& parameter : parameters(layer)) {
    const Shape& shape = parameter.tensor.shape();
    const double fan_in = shape.rank() == 2 ? double(shape[1]) : 1;
    parameter.tensor.set_value(normal(shape, Real(1 / std::sqrt(fan_in)), rng));
  }
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  const Array gates = normal({heads}, 1, rng);

  const double step = 1e-5;
  const auto slope = [&](double by_output, double by_scores) {
    return (loss(layer, x, cotangent, gates, 1 + by_output * step, 1 + by_scores * step) -
            loss(layer, x, cotangent, gates, 1 - by_output * step, 1 - by_scores * step)) /
           (2 * step);
  };
  const double output = slope(1, 0), scores = slope(0, 1);
  REQUIRE(std::abs(output) > 0.05);
  REQUIRE(std::abs(scores) > 0.05);
  const Record& rows = block_with(record, "term")["rows"];
  REQUIRE(rows.size() == 7);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i][0]);
    const double wanted = i < 4 ? output : scores;
    CHECK(std::abs(rows[i][2].get<double>() - wanted) <
          (is_double ? 1e-8 : 1e-4) * (1 + std::abs(wanted)));
  }
}

TEST_CASE("euler covers every layout, mask and kind of gate") {
  const Record record = run("euler", 8, 2, 1);
  Index tables = 0;
  for (const Record& block : record["blocks"]) {
    if (!block.contains("columns") || block["columns"][0] != "mask") continue;
    ++tables;
    CHECK(block["rows"].size() == 5 * 4);
    CHECK(block["rows"].back()[0] == "with empty rows");  // jacobian's test counts them
    for (const Record& row : block["rows"]) {
      CHECK(row[2].is_null() == (row[1] == "none"));  // without gates their equation is missing
    }
  }
  CHECK(tables == 3);
}
