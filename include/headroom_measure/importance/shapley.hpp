// Values of a game among heads: exact ones from the loss of every subset, and sampled ones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headroom/base/rng.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom_measure/importance/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// In all exact ones, values[S] is v(S), the loss with the players in the bits of S present:
// 2^players numbers, as all_values() gives them. Functions throw UsageError for another count of
// values.

/// The number of heads up to which exact values are computed in practice: 4096 subsets.
inline constexpr Index most_exact_players = 12;

/// v(S) of all 2^n subsets of the game's n players, in the order of their bits. Throws UsageError
/// for more than 16 players.
std::vector<double> all_values(HeadGame& game);

/// The Shapley value of each player: its contribution v(S) - v(S + h), averaged over all orders in
/// which the players can come. They sum to v(none) - v(all). Shapley 1953.
std::vector<double> exact_shapley(std::span<const double> values, Index players);

/// The Banzhaf value of each player: its contribution, averaged over all subsets of the others.
/// Banzhaf 1965.
std::vector<double> exact_banzhaf(std::span<const double> values, Index players);

/// Shapley values estimated from random orders of the players.
struct SampledShapley {
  std::vector<double> values;       // the mean over orders
  std::vector<double> errors;       // standard errors
  std::vector<Interval> intervals;  // 95 %, by Student's t
};

/// v of each of some subsets.
using ValuesOf = std::function<std::vector<double>(std::span<const HeadSet> subsets)>;

/// The mean contribution v(S) - v(S + h) over `permutations` random orders. Every second order is
/// the reverse of the one before: what comes late in one comes early in the other, so that the mean
/// of both varies less (antithetic variates). Errors and intervals are those of these means. As
/// many passes over the examples as there are different subsets, at most one for each order and
/// player. Castro, Gomez and Tejada 2009; Held and Yang 2023 for heads. Throws UsageError unless
/// `permutations` is even and at least 4.
SampledShapley sampled_shapley(HeadGame& game, Index permutations, Rng rng);
/// The same from v itself, which is asked once, for all subsets that the orders meet.
SampledShapley sampled_shapley(Index players, const ValuesOf& values, Index permutations, Rng rng);

/// How often intervals of sampled_shapley() hold the exact value.
struct SampledCoverage {
  Index cases = 0;   // players x repeats
  Index inside = 0;  // of them, the exact value is in the 95 % interval
};
/// Samples `repeats` times, each from other orders. `values`: of all subsets.
SampledCoverage sampled_coverage(std::span<const double> values, Index players, Index permutations,
                                 Index repeats, std::uint64_t seed);

/// Harsanyi's dividend of every subset: d(S) = sum over T in S of (-1)^(|S| - |T|) v(T), so that
/// v(S) is the sum of d(T) over T in S. Harsanyi 1963.
std::vector<double> dividends(std::span<const double> values, Index players);

/// For each pair of players, the rise of the loss when both are removed from the whole, less the
/// two rises when one of them is removed: v(all - i - j) - v(all - i) - v(all - j) + v(all).
/// Positive where each covers for the other, negative where one is of no use without the other.
/// Symmetric, [players][players]; 0 on the diagonal.
std::vector<std::vector<double>> pair_interactions(std::span<const double> values, Index players);
/// Harsanyi's dividend of each pair, d({i, j}) = v({i, j}) - v({i}) - v({j}) + v(none), in the same
/// form.
std::vector<std::vector<double>> pair_dividends(std::span<const double> values, Index players);

/// Harsanyi's dividend of each triple of players, i < j < k, those with the lowest bits first.
/// Reads the values of subsets of at most 3 players only.
std::vector<double> triple_dividends(std::span<const double> values, Index players);

/// How far exact Shapley values of a game are from two of their axioms.
struct ShapleyAxioms {
  double sum_error = 0;   // |sum of the values - (v(none) - v(all))|
  double twin_error = 0;  // the largest difference between the values of twins: for each pair of
                          // players, in the game in which v does not change when they are exchanged
};
/// The twins' game of i and j has the value (v(S) + v(S with i and j exchanged)) / 2.
ShapleyAxioms shapley_axioms(std::span<const double> values, Index players);

/// The subset with the smallest loss of each size, 0 to players. Of equal ones, the one with the
/// smallest bits.
std::vector<HeadSet> best_subsets(std::span<const double> values, Index players);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
