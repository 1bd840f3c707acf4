// The agreement of importance scores.
#include "headroom_measure/importance/metric_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Whether the values differ by more than rounding.
bool have_spread(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most - *least > 1e-5 * std::max(std::abs(*least), std::abs(*most));
}

double correlation(const PairedScores& scores) {
  const bool ranked = have_spread(scores.x) && have_spread(scores.y);
  return ranked ? rank_correlation(scores.x, scores.y) : undefined;
}

}  // namespace

PairedScores paired_scores(const ImportanceTable& a, const std::string& m, const ImportanceTable& b,
                           const std::string& n) {
  std::map<HeadId, double> second;
  for (const HeadScore& score : b.importance(n)) second[score.head] = score.score;
  PairedScores paired;
  for (const HeadScore& score : a.importance(m)) {
    const auto found = second.find(score.head);
    if (found == second.end()) continue;
    paired.heads.push_back(score.head);
    paired.x.push_back(score.score);
    paired.y.push_back(found->second);
  }
  return paired;
}

double pooled_correlation(const PairedScores& scores) { return correlation(scores); }

double correlation_within_kinds(const PairedScores& scores) {
  std::map<AttentionKind, PairedScores> kinds;
  for (std::size_t i = 0; i < scores.heads.size(); ++i) {
    PairedScores& of_kind = kinds[scores.heads[i].kind];
    of_kind.x.push_back(scores.x[i]);
    of_kind.y.push_back(scores.y[i]);
  }
  double sum = 0;
  Index counted = 0;
  for (const auto& [kind, of_kind] : kinds) {
    const double within = correlation(of_kind);
    if (of_kind.x.size() < 3 || std::isnan(within)) continue;
    sum += within;
    ++counted;
  }
  return counted > 0 ? sum / double(counted) : undefined;
}

double gradient_cancellation(const ImportanceTable& table) {
  const PairedScores gradients = paired_scores(table, "taylor", table, "sensitivity");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < gradients.heads.size(); ++i) {
    if (gradients.y[i] > 0) ratios.push_back(std::abs(gradients.x[i]) / gradients.y[i]);
  }
  return ratios.empty() ? 0 : median(ratios);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
