// The report's findings about the choice of heads: both outcomes of each.
#include <string>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Heads with rising costs, and a criterion whose scores are given.
ReportRecord with_criterion(const std::vector<double>& importance) {
  ReportRecord run = small_run();
  run.heads.clear();
  run.telemetry.clear();
  for (std::size_t i = 0; i < importance.size(); ++i) {
    run.heads.push_back({.id = {AttentionKind::cross, 0, Index(i)}});
    run.heads.back().cost = double(i) - 1;
  }
  run.criteria = {
      {.name = "fisher", .formula = "E_x g_x^2", .chose = true, .importance = importance}};
  return run;
}

std::string criterion_title(const std::vector<double>& importance) {
  return findings(with_criterion(importance)).criteria.at(0).title;
}

std::string sums_title(const std::vector<ImportanceSums>& sums) {
  ReportRecord run = small_run();
  run.importance_sums = sums;
  return findings(run).importance_sums->title;
}

/// Five random draws.
std::vector<double> draws(double mean, double spread) {
  return {mean - spread, mean - spread / 2, mean, mean + spread / 2, mean + spread};
}

ArmsRecord arms(double chosen_cut, double random_cut, std::vector<double> recovered) {
  ArmsRecord all{.recovery = 450, .test_examples = 1000, .chosen_by = "fisher"};
  all.arms.push_back({"none", 0, {1}, {1}});
  all.arms.push_back({"fisher", 6, {chosen_cut}, {1}});
  all.arms.push_back({"random", 6, draws(random_cut, 0.1), draws(1, 0)});
  all.arms.push_back({"fisher", 12, {0.3}, {recovered[0]}});
  all.arms.push_back({"random", 12, draws(0.1, 0.1), draws(recovered[1], 0.01)});
  all.arms.push_back({"costliest", 12, {0}, {recovered[2]}});
  return all;
}

std::string arms_title(const ArmsRecord& all) {
  ReportRecord run = small_run();
  run.arms = all;
  return findings(run).arms->title;
}

}  // namespace

TEST_CASE("a metric's title follows its rank correlation with the costs") {
  CHECK(criterion_title({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) ==
        "fisher predicts the cost of removal (rank correlation 1.00)");
  CHECK(criterion_title({12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}) ==
        "The lower fisher, the higher the cost of removal (rank correlation -1.00)");
  CHECK_THAT(criterion_title({1, 12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7}),
             Contains("No clear relation between fisher and the cost of removal"));
  CHECK_THAT(criterion_title({3, 2, 1}), Contains("Too few heads to compare fisher"));

  ReportRecord run = with_criterion({1, 2, 3, 4});
  CHECK_THAT(findings(run).criteria[0].caption,
             Contains("E_x g_x^2") && Contains("chosen by it") && !Contains("halves"));
  run.cost_reliability = 0.934;
  run.criteria[0].chose = false;
  CHECK_THAT(findings(run).criteria[0].caption,
             Contains("rank correlation of 0.93") && !Contains("chosen by it"));
}

TEST_CASE("sensitivities that vanish beside lasting costs are told from other developments") {
  CHECK(sums_title({{100, 12, 13}, {600, 4, 10}, {1300, 0.1, 8}}) ==
        "Sensitivity fell 120 times, while the cost of removal stayed within a factor of 1.6");
  CHECK(sums_title({{100, 12, 13}, {1300, 6, 8}}) ==
        "No clear pattern: sensitivity fell 2.0 times, the cost of removal changed by a factor of "
        "1.6");
  // The costs fell, too; the largest is in the middle.
  CHECK(sums_title({{100, 12, 4}, {600, 6, 10}, {1300, 0.1, 2}}) ==
        "No clear pattern: sensitivity fell 120.0 times, the cost of removal changed by a factor "
        "of 5.0");
  CHECK(sums_title({{100, 2, 4}, {1300, 6, 4}}) ==
        "No clear pattern: sensitivity rose 3.0 times, the cost of removal changed by a factor of "
        "1.0");
  CHECK(sums_title({{100, 2, 4}, {1300, 0, 4}}) == "Sensitivity and cost over training");
  ReportRecord run = small_run();
  run.importance_sums = {{100, 1, 1}};
  CHECK_FALSE(findings(run).importance_sums.has_value());
}

TEST_CASE("the title of the arms says what the choice changes, right after the cut and later") {
  CHECK(
      arms_title(arms(0.975, 0.33, {0.995, 0.99, 0.992})) ==
      "Right after 6 heads are removed, 97.5 % are exact with the choice of fisher, 23.0 to 43.0 % "
      "with random ones; 450 steps after the removal of 12 heads, no choice differs clearly from "
      "random ones: fisher 99.5 %, costliest 99.2 %, random 98.0 to 100.0 %");
  CHECK(
      arms_title(arms(0.4, 0.41, {0.94, 0.95, 0.5})) ==
      "Right after 6 heads are removed, 40.0 % are exact with the choice of fisher, 31.0 to 51.0 % "
      "with random ones (no clear difference); 450 steps after the removal of 12 heads, costliest "
      "is clearly worse than random choices: fisher 94.0 %, costliest 50.0 %, random 94.0 to "
      "96.0 %");
  CHECK_THAT(arms_title(arms(0.4, 0.41, {0.99, 0.95, 0.9})),
             Contains("fisher is clearly better than random choices, costliest is clearly worse"));
  CHECK_THAT(arms_title(arms(0.4, 0.41, {0.9, 0.95, 0.9})),
             Contains("fisher and costliest are clearly worse than random choices: "));
  ArmsRecord without = arms(0.4, 0.41, {0.9, 0.95, 0.5});
  without.chosen_by = "path";
  CHECK(arms_title(without) == "Exact match after heads were removed");
  without = arms(0.4, 0.41, {0.9, 0.95, 0.5});
  without.arms[4].choice = "other";  // without random choices
  CHECK(arms_title(without) == "Exact match after heads were removed");
}

TEST_CASE("criteria and arms that do not fit the run are errors") {
  ReportRecord run = with_criterion({1, 2, 3, 4});
  run.criteria[0].importance.pop_back();
  CHECK_THROWS_WITH(findings(run), "report: criteria[0].importance has 3 values for 4 heads");
  run.criteria.clear();
  run.arms = arms(0.4, 0.41, {0.9, 0.95, 0.5});
  run.arms->arms[2].cut.pop_back();
  CHECK_THROWS_WITH(findings(run),
                    "report: arms.arms[2] has 4 results after the cut and 5 after recovery");
  run.arms->arms[2].cut.clear();
  run.arms->arms[2].recovered.clear();
  CHECK_THROWS_AS(findings(run), DataError);
}
