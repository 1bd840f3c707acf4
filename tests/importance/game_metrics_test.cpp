// Metrics that play the game, on games that are known, and the sums that they divide.
#include <algorithm>
#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "importance/polynomial_learner.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr double rounding = is_double ? 1e-9 : 1e-4;

std::vector<double> scores_of(Learner& learner, const std::string& metric) {
  return measure_importance(learner, {metric}).columns[0].scores;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

TEST_CASE("where costs add up, metrics of removal give the costs") {
  PolynomialLearner learner(21);
  for (const char* metric : {"path", "taylor2", "leave_one_out", "all_but_one", "regression",
                             "shapley_sampled", "shapley", "banzhaf"}) {
    INFO(metric);
    const std::vector<double> scores = scores_of(learner, metric);
    REQUIRE(scores.size() == learner.single.size());
    for (std::size_t h = 0; h < scores.size(); ++h) {
      CHECK(std::abs(scores[h] - learner.single[h]) < rounding);
    }
  }
}

TEST_CASE("costs of pairs are shared equally by Shapley, along the path and in reversed orders") {
  PolynomialLearner learner(22, 0.8);
  HeadGame game(learner, ExampleSet::importance, 3);
  const SampledShapley sampled = sampled_shapley(game, 4, Rng(1));
  for (const char* metric : {"path", "shapley", "banzhaf", "shapley_sampled"}) {
    INFO(metric);
    const std::vector<double> scores = scores_of(learner, metric);
    for (Index h = 0; h < 9; ++h) {
      double half = 0;
      for (Index other = 0; other < 9; ++other) half += learner.of_pair(h, other) / 2;
      CHECK(std::abs(at(scores, h) - at(learner.single, h) - half) < rounding);
      CHECK(std::abs(at(sampled.values, h) - at(learner.single, h) - half) < rounding);
      // An order and its reverse together have no error where only pairs count.
      CHECK(at(sampled.errors, h) < rounding);
    }
  }
}

TEST_CASE("causal gating finds what heads do that help, hinder or do nothing") {
  PolynomialLearner learner(23);
  learner.single = {1, 0.5, 0.2, 0.01, 0, -0.01, -0.2, -0.5, -1};
  std::fill(learner.curve.begin(), learner.curve.end(), 0);
  const ImportanceTable table = measure_importance(learner, {"causal_gating"});
  CHECK((table.forward == table.backward && table.backward <= 60));  // equal gates count once
  const auto& [info, scores, details] = table.columns[0];
  for (std::size_t h = 0; h < 9; ++h) {
    INFO("costs " << learner.single[h]);
    const double cost = learner.single[h];
    const double stays = std::abs(cost) < 0.1 ? 0 : cost > 0 ? 1 : -1;
    CHECK(details.classes[h] == (stays > 0   ? "facilitating"
                                 : stays < 0 ? "interfering"
                                             : "irrelevant"));
    // Where the slope cost g (1 - g) is as large as the pull, or at the end of the scale.
    const double end = 1 / (1 + std::exp(-4.0));
    const double rest = stays == 0 ? 0 : (1 + std::sqrt(1 - 0.04 / std::abs(cost))) / 2;
    const double up = stays < 0 ? 1 - std::min(rest, end) : end;
    const double down = stays > 0 ? std::min(rest, end) : 1 - end;
    CHECK(std::abs(details.numbers.at("gates_up")[h] - up) < 0.04);
    CHECK(std::abs(details.numbers.at("gates_down")[h] - down) < 0.04);
    CHECK(std::abs(scores[h] - up - down + 1) < 0.04);
  }
}

TEST_CASE("path and Shapley divide the way from no head to all heads") {
  FixedLearner learner(Layout::fused, {3, 6, 4}, 1);
  HeadGame game(learner, ExampleSet::importance, 3);
  const double fall = game.value(HeadSet()) - game.value(game.all());
  CHECK(std::abs(sum_of(scores_of(learner, "shapley")) - fall) < rounding);
  CHECK(std::abs(sum_of(scores_of(learner, "shapley_sampled")) - fall) < rounding);
  CHECK(std::abs(sum_of(scores_of(learner, "path")) - fall) < 1e-3 * std::abs(fall));
  CHECK(std::abs(fall) > 0.01);
}

TEST_CASE("sampled Shapley values have the errors of independent pairs of orders") {
  FixedLearner learner(Layout::fused, {3, 6, 4}, 1);
  HeadGame game(learner, ExampleSet::importance, 3);
  const SampledShapley few = sampled_shapley(game, 8, Rng(2)),
                       many = sampled_shapley(game, 800, Rng(3));
  const std::vector<double> exact = exact_shapley(all_values(game), game.size());
  double ratio = 0;
  for (std::size_t h = 0; h < exact.size(); ++h) {
    CHECK(std::abs(many.values[h] - exact[h]) < 5 * many.errors[h]);
    CHECK(many.intervals[h].low < many.values[h]);
    CHECK(std::abs(many.intervals[h].high - many.values[h] - 1.966 * many.errors[h]) <
          2e-3 * many.errors[h]);  // Student's t with 399 degrees of freedom
    ratio += few.errors[h] / many.errors[h] / double(exact.size());
  }
  CHECK((ratio > 5 && ratio < 20));  // 10 is expected
  CHECK_THROWS_WITH(sampled_shapley(game, 3, Rng(1)), Catch::Contains("come in pairs"));
  CHECK_THROWS_AS(sampled_shapley(game, 2, Rng(1)), UsageError);
}
