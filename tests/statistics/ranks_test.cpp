// Ranks, medians and correlations.
#include "headroom/statistics/ranks.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
bool agree(double a, double b, double tolerance = 1e-3) { return std::abs(a - b) <= tolerance; }
}  // namespace

TEST_CASE("the median is the value in the middle") {
  CHECK(median(std::vector<double>{3, 1, 2}) == 2);
  CHECK(median(std::vector<double>{4, 1, 3, 2}) == 2.5);
  CHECK_THROWS_AS(median({}), UsageError);
}

TEST_CASE("equal values share the mean of their ranks") {
  CHECK(ranks(std::vector<double>{10, 30, 20}) == std::vector<double>{1, 3, 2});
  CHECK(ranks(std::vector<double>{5, 1, 5, 9}) == std::vector<double>{2.5, 1, 2.5, 4});
}

TEST_CASE("the rank correlation sees order only") {
  const std::vector<double> x{1, 2, 3, 4, 5};
  CHECK(agree(rank_correlation(x, std::vector<double>{1, 10, 100, 1000, 10000}), 1, 1e-12));
  CHECK(agree(rank_correlation(x, std::vector<double>{5, 4, 3, 2, 1}), -1, 1e-12));
  // 1 - 6 sum of d^2 / (n (n^2 - 1)) with differences of ranks 0, 1, 1, 1, 1.
  CHECK(agree(rank_correlation(x, std::vector<double>{1, 3, 2, 5, 4}), 1 - 6.0 * 4 / 120, 1e-12));
  CHECK(rank_correlation(x, std::vector<double>{7, 7, 7, 7, 7}) == 0);
  CHECK_THROWS_WITH(rank_correlation(x, std::vector<double>{1}),
                    "rank_correlation: 5 and 1 values");
}

TEST_CASE("tau-b counts pairs in the same order, without those that are tied") {
  const std::vector<double> x{1, 2, 3, 4};
  CHECK(kendall_tau(x, std::vector<double>{2, 4, 8, 16}) == 1);
  CHECK(kendall_tau(x, std::vector<double>{4, 3, 2, 1}) == -1);
  CHECK(agree(kendall_tau(x, std::vector<double>{1, 3, 2, 4}), 4.0 / 6, 1e-12));
  // Of 6 pairs 1 is tied in y, 4 are in order, 1 is not.
  CHECK(agree(kendall_tau(x, std::vector<double>{1, 3, 2, 3}), 3 / std::sqrt(6.0 * 5), 1e-12));
  CHECK(kendall_tau(x, std::vector<double>{7, 7, 7, 7}) == 0);
  CHECK_THROWS_WITH(kendall_tau(x, std::vector<double>{1}), "kendall_tau: 4 and 1 values");
}

TEST_CASE("the overlap is of the largest values, whatever their order") {
  const std::vector<double> x{5, 1, 4, 3, 2}, y{4, 5, 3, 1, 2};
  CHECK(top_overlap(x, y, 1) == 0);
  CHECK(top_overlap(x, y, 2) == 0.5);
  CHECK(agree(top_overlap(x, y, 3), 2.0 / 3, 1e-12));
  CHECK(top_overlap(x, y, 5) == 1);
  CHECK(top_overlap(std::vector<double>{2, 2, 2}, std::vector<double>{1, 0, 0}, 1) == 1);
  CHECK_THROWS_WITH(top_overlap(x, y, 6), "top_overlap: 6 of 5 values");
  CHECK_THROWS_AS(top_overlap(x, y, 0), UsageError);
}

TEST_CASE("the slope is that of the line of least squares") {
  const std::vector<std::pair<double, double>> line{{1, 5}, {3, 9}, {10, 23}};
  CHECK(agree(least_squares_slope(line), 2, 1e-12));
  // By the normal equations: (n sum xy - sum x sum y) / (n sum xx - (sum x)^2) = 9 / 6.
  const std::vector<std::pair<double, double>> scattered{{0, 0}, {1, 2}, {2, 3}};
  CHECK(agree(least_squares_slope(scattered), 1.5, 1e-12));
  CHECK_THROWS_AS(least_squares_slope({line.data(), 1}), UsageError);
}
