// Checks exact_shapley by a game that can be done by hand, by all orders of random games, and by
// its axioms.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <numeric>

#include "common/checks.hpp"
#include "headroom_measure/importance/shapley.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

using Values = std::vector<double>;

Array as_array(const Values& values) {
  Array array({std::ssize(values)});
  for (Index i = 0; i < array.size(); ++i) array[i] = Real(values[std::size_t(i)]);
  return array;
}

/// The contributions of all heads, averaged over all orders, one after the other.
Values by_orders(const Values& values, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Values sums(n);
  double orders = 0;
  do {
    std::size_t present = 0;
    for (const std::size_t h : order) {
      const std::size_t with = present | std::size_t{1} << h;
      sums[h] += values[present] - values[with];
      present = with;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& sum : sums) sum /= orders;
  return sums;
}

/// The values by the formula, with shares that are computed without large numbers.
Values by_formula(const Values& values, std::size_t n) {
  Values shares{1 / double(n)}, sums(n);
  for (std::size_t k = 1; k < n; ++k) shares.push_back(shares[k - 1] * double(k) / double(n - k));
  for (std::size_t set = 0; set < values.size(); ++set) {
    for (std::size_t h = 0; h < n; ++h) {
      const std::size_t with = set | std::size_t{1} << h;
      if (with != set) {
        sums[h] += shares[std::size_t(std::popcount(set))] * (values[set] - values[with]);
      }
    }
  }
  return sums;
}

void check(const Values& values, const Values& expected) {
  const std::size_t n = expected.size();
  const Values yours = exact_shapley(values, Index(n));
  chapter::require(yours.size() == n, fmt::format("{} values for {} heads.", yours.size(), n));
  chapter::require_equal("the values", as_array(expected), as_array(yours), {{"head"}, {}});
}

Values random_game(std::size_t n, std::uint64_t seed) {
  Rng rng(seed, "11/4");
  Values values(std::size_t{1} << n);
  for (double& value : values) value = double(rng.normal());
  return values;
}

}  // namespace

TEST_CASE("by hand: two heads cover for each other, a third is worth 4 alone", "[11/4]") {
  // The loss is 10 without heads, 3 less with head 0 or head 1 or both, 4 less with head 2.
  Values values(8);
  for (std::size_t set = 0; set < 8; ++set) {
    values[set] = 10 - ((set & 3) != 0 ? 3 : 0) - ((set & 4) != 0 ? 4 : 0);
  }
  check(values, {1.5, 1.5, 4});
}

TEST_CASE("all orders of random games", "[11/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
      const Values values = random_game(n, seed);
      check(values, by_orders(values, n));
    }
  }
}

TEST_CASE("twelve heads: the values sum to what all of them are worth", "[11/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Values values = random_game(12, seed), shapley = exact_shapley(values, 12);
    const double sum = std::accumulate(shapley.begin(), shapley.end(), 0.0);
    chapter::require(std::abs(sum - (values.front() - values.back())) < 1e-9,
                     fmt::format("the values of 12 heads sum to {:.6g}, expected {:.6g}, the loss "
                                 "without any minus the loss with all.",
                                 sum, values.front() - values.back()));
  }
}

TEST_CASE("many heads: up to 16", "[11/4]") {
  for (const std::size_t n : {std::size_t{13}, std::size_t{16}}) {
    const Values values = random_game(n, n);
    check(values, by_formula(values, n));
  }
}

TEST_CASE("a head without effect is worth 0, and equal heads are worth the same", "[11/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    // Head 2 has no effect; heads 0 and 1 count by their number; head 3 interacts with them.
    Rng rng(seed, "11/4 axioms");
    Values by_count(6), values(16);
    for (double& value : by_count) value = double(rng.normal());
    for (std::size_t set = 0; set < 16; ++set) {
      const auto twins = std::size_t(std::popcount(set & 3));
      values[set] = by_count[(set & 8) != 0 ? 3 + twins : twins];
    }
    const Values shapley = exact_shapley(values, 4);
    chapter::require(
        std::abs(shapley[2]) < 1e-12,
        fmt::format("a head that never changes the loss is worth {:.6g}, expected 0.", shapley[2]));
    chapter::require(std::abs(shapley[0] - shapley[1]) < 1e-12,
                     fmt::format("two heads that can take each other's place are worth {:.6g} and "
                                 "{:.6g}.",
                                 shapley[0], shapley[1]));
  }
}
