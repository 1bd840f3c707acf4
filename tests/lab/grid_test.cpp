// Grid: the same measurement of several cases in many draws.
#include <cmath>

#include "headroom/base/error.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;

namespace {

struct Case {
  const char* name;
  double factor;
};
struct Sample {
  double value = 0;
  bool odd = false;
};

const std::vector<Case> cases{{"one", 1}, {"ten", 10}, {"minus one", -1}};

/// Samples factor * (1, 2, 3).
Grid<Case, Sample> grid_of_three() {
  return {cases, 3, [](const Case& one, std::uint64_t draw) {
            return Sample{one.factor * double(draw + 1), draw % 2 == 1};
          }};
}

}  // namespace

TEST_CASE("a grid measures every case in every draw and keeps the samples") {
  const Grid<Case, Sample> grid = grid_of_three();
  REQUIRE(grid.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<double> values = grid[i].all(&Sample::value);
    CHECK(values == std::vector<double>{cases[i].factor, 2 * cases[i].factor, 3 * cases[i].factor});
    CHECK(grid.cases()[i].name == std::string(cases[i].name));
  }
  CHECK(&grid.of("ten") == &grid[1]);
  CHECK(&grid.of(std::string("minus one")) == &grid[2]);
  CHECK_THROWS_AS(grid.of("two"), UsageError);
}

TEST_CASE("a grid takes the samples of all cases from one draw") {
  std::vector<std::uint64_t> drawn;
  const Grid<Index, Index> grid({4, 7}, 3, [&](std::uint64_t draw) {
    drawn.push_back(draw);
    return std::vector<Index>{4 * Index(draw), 7 * Index(draw)};
  });
  CHECK(drawn == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(grid.of(7).samples() == std::vector<Index>{0, 7, 14});
  CHECK(grid[0].samples() == std::vector<Index>{0, 4, 8});
}

TEST_CASE("extremes and counts over some cases of a grid, and over all") {
  const Grid<Case, Sample> grid = grid_of_three();
  const Survey<Sample> positive = grid.where([](const Case& one) { return one.factor > 0; });
  CHECK(positive.samples().size() == 6);
  CHECK(positive.smallest(&Sample::value) == 1);
  CHECK(positive.largest(&Sample::value) == 30);
  CHECK(grid.all().smallest(&Sample::value) == -3);
  CHECK(grid.all().off(&Sample::value, 1) == 29);
  CHECK(grid.all().count(&Sample::odd) == 3);
}

TEST_CASE("rows and points of a grid show means, intervals and extremes by case") {
  const Grid<Case, Sample> grid = grid_of_three();
  const auto rows =
      grid.rows(&Case::name, &Sample::value, largest_of(&Sample::value),
                smallest_of(&Sample::value), [](const Case& one) { return 2 * one.factor; });
  REQUIRE(rows.size() == 3);
  REQUIRE(rows[1].size() == 5);
  CHECK(*rows[1][0].get<std::string>() == "ten");
  const Interval mean = *rows[1][1].get<Interval>();
  CHECK(std::abs(mean.value - 20) < 1e-12);
  CHECK(std::abs(mean.high - 20 - 4.302652729749 * 10 / std::sqrt(3.0)) < 1e-9);  // Student's t
  CHECK(*rows[1][2].get<double>() == 30);
  CHECK(*rows[2][3].get<double>() == -3);
  CHECK(*rows[2][4].get<double>() == -2);

  const auto range = [](const Survey<Sample>& one) {
    return one.largest(&Sample::value) - one.smallest(&Sample::value);
  };
  CHECK(grid.by_case(range) == std::vector<double>{2, 20, 2});
  const Chart::Series line = grid.series("mean", &Case::factor, &Sample::value);
  CHECK(line.name == "mean");
  REQUIRE(line.points.size() == 3);
  CHECK(line.points[1].first == 10);
  CHECK(std::abs(line.points[1].second - 20) < 1e-12);
  CHECK(std::abs(line.points[2].second + 2) < 1e-12);
}

TEST_CASE("a sample that is not a number shows in every statistic of a grid") {
  const Grid<Index, double> grid({1, 2}, 2, [](Index one, std::uint64_t draw) {
    return one == 2 && draw == 0 ? std::nan("") : 1.0;
  });
  CHECK(std::isnan(grid.all().largest(as_it_is)));
  CHECK(std::isnan(grid.of(2).smallest(as_it_is)));
  CHECK(std::isnan(grid.all().off(as_it_is, 0)));
  CHECK(grid.of(1).largest(as_it_is) == 1);
}
