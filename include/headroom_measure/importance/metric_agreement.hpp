// The agreement of two importance scores of the same heads: of two metrics, of one metric on two
// sets of examples, at two points of training, in two runs.
#pragma once

#include <string>
#include <vector>

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The scores of heads that two tables share, larger for more important heads.
struct PairedScores {
  std::vector<HeadId> heads;  // in the order of HeadId
  std::vector<double> x, y;
};

/// Metric `m` of table `a` and metric `n` of table `b`, for the heads that are in both. Throws
/// UsageError for a metric that was not measured.
PairedScores paired_scores(const ImportanceTable& a, const std::string& m, const ImportanceTable& b,
                           const std::string& n);

// A metric whose scores differ by rounding only (attention_l1, or depth within one layer) has no
// ranking: a correlation with it is NaN.

/// Spearman's rank correlation over all heads.
double pooled_correlation(const PairedScores& scores);
/// The mean over the kinds of attention of Spearman's rank correlation within a kind: scores of
/// different kinds are not on one scale. Kinds with fewer than 3 heads, or without a
/// ranking, do not count; NaN if none is left.
double correlation_within_kinds(const PairedScores& scores);

/// For each head, the absolute value of the mean gradient of its gate, divided by the mean of its
/// absolute value, |E g| / E |g|: 1 where all examples pull in one direction, near 0 where they
/// cancel. The median over the heads. The table needs the metrics taylor and sensitivity.
double gradient_cancellation(const ImportanceTable& table);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
