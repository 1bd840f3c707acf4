// Properties that metrics of importance share: identities, order, constants, other layouts.
#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/plain_metrics.hpp"
#include "support/catch.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

/// The scores of one metric of the heads of some kinds.
std::vector<double> scores_of(const ImportanceTable& table, const std::string& metric,
                              const std::vector<AttentionKind>& kinds) {
  std::vector<double> scores;
  for (const HeadScore& entry : table.importance(metric)) {
    if (std::find(kinds.begin(), kinds.end(), entry.head.kind) == kinds.end()) continue;
    scores.push_back(entry.score);
  }
  return scores;
}

constexpr double property_rounding = is_double ? 1e-12 : 1e-5;

}  // namespace

TEST_CASE(
    "attention_l1 has no spread, and position_variance ranks as attention_l2 where rows are "
    "equally long") {
  FixedLearner learner(Layout::separate, {5, 5, 5});
  const ImportanceTable table =
      measure_importance(learner, {"attention_l1", "attention_l2", "position_variance"});
  for (const double score : table.columns[0].scores) CHECK(std::abs(score - 1) < property_rounding);
  // The rows of a decoder's self-attention have 1, 2, ... keys.
  const std::vector<AttentionKind> kinds{AttentionKind::encoder_self, AttentionKind::cross};
  const auto l2 = scores_of(table, "attention_l2", kinds),
             variance = scores_of(table, "position_variance", kinds);
  CHECK(rank_correlation(l2, variance) == 1);
  for (std::size_t i = 0; i < l2.size(); ++i) {
    CHECK(std::abs(variance[i] - (l2[i] * l2[i] / 5 - 0.04)) < property_rounding);
  }
}

TEST_CASE("value_path is the sensitivity per batch; finer absolute values give larger scores") {
  FixedLearner learner;
  const ImportanceTable table = measure_importance(
      learner, {"value_path", "sensitivity_per_batch", "sensitivity", "sensitivity_per_token"});
  const auto scores = [&](std::size_t column, std::size_t head) {
    return table.columns[column].scores[head];
  };
  double token_minus_batch = 0;
  for (std::size_t h = 0; h < table.heads.size(); ++h) {
    INFO(table.heads[h].text());
    CHECK(std::abs(scores(0, h) - scores(1, h)) < property_rounding);
    CHECK(scores(1, h) <= scores(2, h) + property_rounding);
    CHECK(scores(2, h) <= scores(3, h) + property_rounding);
    token_minus_batch += scores(3, h) - scores(1, h);
  }
  CHECK(token_minus_batch > 0.1);
}

TEST_CASE("normalised sensitivities have norm 1 in each attention, or are 0 where nothing flows") {
  FixedLearner learner;
  std::vector<HeadId> cross = live_heads(learner.model());
  std::erase_if(cross, [](const HeadId& head) { return head.kind != AttentionKind::cross; });
  prune(learner.model(), std::vector<HeadId>{cross[1]});
  const auto squares = [&] {
    const ImportanceTable table = measure_importance(learner, {"sensitivity_normalised"});
    std::map<AttentionLocation, double> sums;
    for (const HeadScore& score : table.importance("sensitivity_normalised")) {
      sums[{score.head.kind, score.head.layer}] += score.score * score.score;
    }
    return sums;
  };
  for (const auto& [location, sum] : squares()) CHECK(std::abs(sum - 1) < property_rounding);
  cross.erase(cross.begin() + 1);
  prune(learner.model(), cross);
  for (const auto& [location, sum] : squares()) {
    INFO(location.text());
    const bool flows = location.kind != AttentionKind::encoder_self;
    CHECK(std::abs(sum - (flows ? 1 : 0)) < property_rounding);
  }
}

TEST_CASE("metrics do not depend on the layout of the heads", "[slow]") {
  FixedLearner separate(Layout::separate), fused(Layout::fused);
  transplant(separate.model(), fused.model());
  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  const ImportanceTable a = measure_importance(separate, names),
                        b = measure_importance(fused, names);
  REQUIRE(a.columns.size() == b.columns.size());
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    INFO(a.columns[c].info.name);
    for (std::size_t h = 0; h < a.heads.size(); ++h) {
      CHECK(std::abs(a.columns[c].scores[h] - b.columns[c].scores[h]) <
            (is_double ? 1e-9 : 1e-3) * std::max(1.0, std::abs(a.columns[c].scores[h])));
    }
  }
}

TEST_CASE("twin heads have redundancy 1, a head alone has -1") {
  FixedLearner learner;
  const std::vector<NamedAttention> all = attentions(learner.model());
  HeadBlocks blocks = head_values(*all[0].attention);
  for (auto& [key, block] : blocks) {
    if (key.second == 2) block = blocks.at({key.first, 0}).clone();
  }
  set_head_values(*all[0].attention, blocks);
  prune(learner.model(), std::vector<HeadId>{all[1].id(0), all[1].id(2)});
  for (const HeadScore& score :
       measure_importance(learner, {"redundancy"}).importance("redundancy")) {
    INFO(score.head.text());
    const bool twin = score.head == all[0].id(0) || score.head == all[0].id(2);
    if (twin) {
      CHECK(std::abs(score.score + 1) < property_rounding);  // importance() turns the sign
    } else if (score.head == all[1].id(1)) {
      CHECK(score.score == 1);
    } else {
      CHECK(std::abs(score.score) < 0.999);
    }
  }
}

TEST_CASE("uniform attention has entropy 1 and attention_l2 of equally long rows") {
  FixedLearner learner(Layout::separate, {4, 4, 4});
  for (const auto& [name, tensor] : parameters(learner.model())) {
    if (name.find("query.") == std::string::npos) continue;
    Tensor same = tensor;
    same.set_value(zeros(tensor.shape()));
  }
  const ImportanceTable table =
      measure_importance(learner, {"entropy", "attention_l2", "routing_path"});
  const std::vector<AttentionKind> kinds{AttentionKind::encoder_self, AttentionKind::cross};
  for (const double score : scores_of(table, "entropy", kinds))
    CHECK(std::abs(score + 1) < property_rounding);
  for (const double score : scores_of(table, "attention_l2", kinds)) {
    CHECK(std::abs(score - 0.5) < property_rounding);
  }
  for (const double score : table.columns[2].scores) CHECK(score == 0);  // no scores to sharpen
}

TEST_CASE("a metric without scores of a model is absent, with the reason") {
  FixedLearner shared(Layout::shared);
  const ImportanceTable table = measure_importance(
      shared, {"routing_path", "value_path", "gradient_norms", "movement", "redundancy"});
  REQUIRE(table.columns.size() == 2);
  CHECK(table.columns[0].info.name == "value_path");
  CHECK(table.columns[1].info.name == "redundancy");
  REQUIRE(table.absent.size() == 3);
  CHECK(table.absent[0].info.name == "routing_path");
  CHECK_THAT(table.absent[0].reason, Contains("no query parameters of its own"));
  CHECK_THROWS_WITH(table.importance("movement"), Contains("the run did not record it"));
  const ImportanceOptions some{.recorded = {{"movement", {{table.heads[0], 1.0}}}}};
  CHECK_THAT(measure_importance(shared, {"movement"}, some).absent.at(0).reason,
             Contains("no score of " + table.heads[1].text()));
}
