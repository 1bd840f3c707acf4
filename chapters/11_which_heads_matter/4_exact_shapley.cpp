//! title: exact_shapley
//! replaces: headroom::exact_shapley
//! minutes: 30
//! difficulty: 3
//! needs: 11/2
//! hint: How many sets S are there without head h? In how many of the n! orders are exactly the
//!   heads of S before it? With three heads, write all six orders down.
//! hint: For each S and each h that is not in S: add share[|S|] * (values[S] - values[S + h]) to
//!   the value of h. The shares of all S without h sum to 1.
//! hint: share[k] = k! (n - 1 - k)! / n!. Without factorials: share[0] = 1 / n, and share[k] =
//!   share[k - 1] * k / (n - k).
//! after: The sum of the values is what all heads together are worth, for every game. Leave-one-out
//!   and Banzhaf's value do not have this property.
// Exercise 11/4, exact_shapley: what is each head worth, averaged over all orders?
#include "4_exact_shapley.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Index size_of(std::size_t set) { return Index(std::popcount(set)); }

}  // namespace

std::vector<double> exact_shapley(std::span<const double> values, Index players) {
  if (players < 1 || players > 16 || values.size() != std::size_t{1} << std::size_t(players)) {
    throw UsageError("exact_shapley: " + std::to_string(values.size()) + " values for " +
                     std::to_string(players) + " players; 2^players are needed, for 1 to 16");
  }
  const auto n = std::size_t(players);
  // share[k]: the share of the n! orders in which a certain set of k heads comes before h.
  std::vector<double> share(n);
  //! solution
  share[0] = 1 / double(players);
  for (std::size_t k = 1; k < n; ++k) share[k] = share[k - 1] * double(k) / double(n - k);
  //! skeleton
  // share[0] = chapter::todo("share: of a set of 0, 1, ..., n - 1 heads");
  //! mistake plain_mean: all sets without h got the same share: that is Banzhaf's value; in the
  //!   orders, small and large sets come first more often than those in between
  // for (double& of_size : share) of_size = std::exp2(1 - double(n));
  //! mistake marginal_to_full: only the set of all others got a share: that is leave-one-out
  // share[n - 1] = 1;
  //! mistake alone: only the empty set got a share: then only the first one to come counts
  // share[0] = 1;
  //! mistake counts_itself: head h was counted among those that came before it: of n - 1 others,
  //!   |S| come before and n - 1 - |S| after
  // share[0] = 1;
  // for (std::size_t k = 1; k < n; ++k) share[k] = share[k - 1] * double(k) / double(n - k + 1);
  //! mistake int_factorials: factorials of integers were computed: an int holds 12! and not 13!.
  //!   Compute them as double, or each share from the one before
  // const auto factorial = [](std::size_t k) {
  //   int product = 1;
  //   for (std::size_t i = 2; i <= k; ++i) product = int(unsigned(product) * unsigned(i));
  //   return double(product);
  // };
  // for (std::size_t k = 0; k < n; ++k) {
  //   share[k] = factorial(k) * factorial(n - 1 - k) / factorial(n);
  // }
  //! mistake per_size: all sizes got the same share per set: 1 / n is the share of all sets of one
  //!   size together
  // for (double& of_size : share) of_size = 1 / double(n);
  //! end

  std::vector<double> shapley(n);
  for (std::size_t set = 0; set < values.size(); ++set) {
    for (std::size_t h = 0; h < n; ++h) {
      //! solution
      if (((set >> h) & 1) != 0) continue;
      const double contribution = values[set] - values[set | (std::size_t{1} << h)];
      shapley[h] += share[std::size_t(size_of(set))] * contribution;
      //! skeleton
      // const double contribution = chapter::todo("what h lowers the loss by; 0 if set has h");
      // shapley[h] += share[std::size_t(size_of(set))] * contribution;
      //! wrong rises: The sign is flipped
      //- const double contribution = values[set] - values[set | (std::size_t{1} << h)];
      //+ const double contribution = values[set | (std::size_t{1} << h)] - values[set];
      //! mistake reversed: bit 0 was taken for the last head: it is head 0
      // const std::size_t bit = std::size_t{1} << (n - 1 - h);
      // if ((set & bit) != 0) continue;
      // shapley[h] += share[std::size_t(size_of(set))] * (values[set] - values[set | bit]);
      //! end
    }
  }
  return shapley;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
