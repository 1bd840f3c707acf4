// The agreement of importance scores, in closed form.
#include "headroom_measure/importance/metric_agreement.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

/// Heads of one layer of each kind, with scores by metrics a, b, taylor and sensitivity.
ImportanceTable table_of(const std::vector<HeadId>& heads,
                         const std::vector<std::pair<std::string, std::vector<double>>>& columns) {
  ImportanceTable table;
  table.heads = heads;
  for (const auto& [name, scores] : columns) {
    table.columns.push_back({{.name = name, .formula = "", .source = ""}, scores});
  }
  return table;
}

std::vector<HeadId> two_kinds() {
  std::vector<HeadId> heads;
  for (const AttentionKind kind : {AttentionKind::encoder_self, AttentionKind::cross}) {
    for (Index h = 0; h < 3; ++h) heads.push_back({kind, 0, h});
  }
  return heads;
}

}  // namespace

TEST_CASE("scores are paired by head, and heads that one table lacks are left out") {
  const std::vector<HeadId> all = two_kinds();
  const ImportanceTable a = table_of(all, {{"a", {1, 2, 3, 4, 5, 6}}});
  ImportanceTable b = table_of({all[5], all[1]}, {{"b", {60, 20}}});
  const PairedScores paired = paired_scores(a, "a", b, "b");
  CHECK(paired.heads == std::vector<HeadId>{all[1], all[5]});
  CHECK(paired.x == std::vector<double>{2, 6});
  CHECK(paired.y == std::vector<double>{20, 60});
  b.columns[0].info.keep_low = true;  // the low scores belong to the important heads
  CHECK(paired_scores(a, "a", b, "b").y == std::vector<double>{-20, -60});
  CHECK_THROWS_AS(paired_scores(a, "b", b, "b"), UsageError);
}

TEST_CASE("within kinds, a difference between the kinds does not count") {
  // Within each kind the order is reversed; the kinds as a whole agree.
  const ImportanceTable table =
      table_of(two_kinds(), {{"a", {3, 2, 1, 30, 20, 10}}, {"b", {1, 2, 3, 10, 20, 30}}});
  const PairedScores scores = paired_scores(table, "a", table, "b");
  // Differences of ranks: 2, 0, 2, 2, 0, 2; 1 - 6 x 16 / (6 x 35).
  CHECK(std::abs(pooled_correlation(scores) - (1 - 96.0 / 210)) < 1e-12);
  CHECK(std::abs(correlation_within_kinds(scores) + 1) < 1e-12);
}

TEST_CASE("scores that differ by rounding only have no ranking") {
  const ImportanceTable table = table_of(
      two_kinds(), {{"a", {1, 1 + 1e-7, 1, 1 - 1e-7, 1, 1}}, {"b", {1, 2, 3, 10, 20, 30}}});
  const PairedScores scores = paired_scores(table, "a", table, "b");
  CHECK(std::isnan(pooled_correlation(scores)));
  CHECK(std::isnan(correlation_within_kinds(scores)));
}

TEST_CASE("the cancellation of gradients is the median of |E g| / E|g|") {
  const ImportanceTable table = table_of(
      two_kinds(), {{"taylor", {-1, 0.5, 0, 0.1, 2, 7}}, {"sensitivity", {1, 1, 1, 1, 4, 0}}});
  // 1, 0.5, 0, 0.1, 0.5; the last head has no gradient.
  CHECK(gradient_cancellation(table) == 0.5);
}
