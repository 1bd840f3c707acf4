// symmetry: the distance after one step, from finite differences of a plain forward pass.
#include <algorithm>

#include "lab/plain_layer.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("symmetry holds for any seed and size") {
  check_holds("symmetry", {{8, 2, 1}, {6, 3, 2}, {16, 8, 3}}, 13);
}

TEST_CASE("symmetry reports the distance that plain gradients make in one step") {
  const Index width = 8, heads = 2, d = 4;
  const std::uint64_t seed = 3, draws = 5;
  const Record record = run("symmetry", width, heads, seed);
  double mean = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    Rng rng(seed, "symmetry", draw);
    FusedHeads layer({.width = width, .heads = heads}, rng);
    draw_parameters(layer, rng);
    PlainLayer plain(layer);
    const auto copy_rows = [&](Numbers& numbers, Index columns) {
      for (Index third = 0; third < 3; ++third) {
        const auto first = numbers.begin() + third * width * columns;
        std::copy_n(first, d * columns, first + d * columns);
      }
    };
    copy_rows(plain.in_weight, width);
    copy_rows(plain.in_bias, 1);
    const PlainTask task(width, heads, seed_of_draw(seed, draw));
    const Numbers slope = task.gradient(plain, plain.in_weight, 0);
    const Numbers bias_slope = task.gradient(plain, plain.in_bias, 0);
    double distance = 0;
    for (Index third = 0; third < 3; ++third) {
      double most = 0, difference = 0;
      const auto compare = [&](const Numbers& numbers, const Numbers& slopes, Index columns) {
        const auto after = [&](Index j) {
          const auto at = std::size_t(j);
          return numbers[at] - 0.004 * double(width) * slopes[at];
        };
        for (Index i = third * width * columns; i < (third * width + d) * columns; ++i) {
          most = std::max(most, std::abs(after(i)));
          difference = std::max(difference, std::abs(after(i) - after(i + d * columns)));
        }
      };
      compare(plain.in_weight, slope, width);
      if (third != 1) compare(plain.in_bias, bias_slope, 1);  // b_K has no effect
      distance = std::max(distance, difference / most);
    }
    mean += distance / double(draws);
  }
  const Record& lines = block_with(record, "different output block")["series"];
  CHECK(lines[1]["name"] == "different output block");
  CHECK(lines[1]["points"][1][0] == 1);
  CHECK(off(lines[1]["points"][1][1].get<double>(), mean) < (is_double ? 1e-6 : 1e-3));
  CHECK(lines[0]["points"][1][1].get<double>() <= (is_double ? 1e-12 : 1e-5));
}
