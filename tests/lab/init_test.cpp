// init: the measured figures against plain loops over the same draws.
#include <fmt/format.h>

#include <cmath>

#include "headroom/nn/fused_heads.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("init holds for any seed and size") {
  check_holds("init",
              {{8, 2, 1}, {8, 8, 2}, {12, 3, 3}, {64, 64, 4}, {96, 2, 5}, {128, 16, 6}, {4, 2, 7}},
              9);
}

TEST_CASE("init reports variance, logits and largest weights as plain loops find them") {
  const Index width = 12, heads = 3, d = 4, tokens = 32;
  const std::uint64_t draws = 5, seed = 2;
  const Record record = run("init", width, heads, seed);
  const Record& deviations = block_with(record, "per head, 2H / (H + 1)")["series"];
  const Record& maxima = block_with(record, "uniform attention, 1 / T")["series"];
  const char* names[] = {"packed", "per matrix", "per head"};
  const FanPolicy policies[] = {FanPolicy::packed, FanPolicy::per_matrix, FanPolicy::per_head};
  for (std::size_t p = 0; p < 3; ++p) {
    INFO(names[p]);
    double variance = 0, square = 0, deviation = 0, maximum = 0;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      Rng weights(seed, "init", draw), inputs(seed, "init inputs", draw);
      const FusedHeads layer({.width = width, .heads = heads, .bias = false, .init = policies[p]},
                             weights);
      const Array& w = layer.in_proj_weight.value();
      for (const Real x : w.span()) {
        variance += std::pow(double(x), 2) / double(3 * width * draws);
      }
      const Array x = normal({1, tokens, width}, 1, inputs);
      double squares = 0;
      for (Index h = 0; h < heads; ++h) {
        const Matrix q = plain_linear(x, 0, w, {}, h * d, (h + 1) * d);
        const Matrix k = plain_linear(x, 0, w, {}, width + h * d, width + (h + 1) * d);
        for (const auto& query : q) {
          double sum = 0, most = 0;
          for (const auto& key : k) {
            double s = 0;
            for (std::size_t c = 0; c < key.size(); ++c) s += query[c] * key[c] / 2;  // sqrt(D)
            squares += s * s;
            sum += std::exp(s);
            most = std::max(most, std::exp(s));
          }
          maximum += most / sum / double(heads * tokens * Index(draws));
        }
      }
      const double mean = squares / double(heads * tokens * tokens);
      square += mean / double(draws);
      deviation += std::sqrt(mean) / double(draws);
    }
    const auto point = [&](const Record& series) {  // at 3 heads, the third after 1 and 2
      CHECK(series[p]["name"] == names[p]);
      CHECK(series[p]["points"][2][0] == 3);
      return series[p]["points"][2][1].get<double>();
    };
    const double close = is_double ? 1e-12 : 1e-5;
    CHECK(off(measured(record, fmt::format("{}: weights'", names[p])), variance) < close);
    CHECK(off(measured(record, fmt::format("{}: root mean square", names[p])), std::sqrt(square)) <
          close);
    CHECK(off(point(deviations), deviation) < close);
    CHECK(off(point(maxima), maximum) < close);
  }
  CHECK(measured(record, "packed: weights'") < 0.7);
  CHECK(measured(record, "per head: weights'") > 1.2);
}
