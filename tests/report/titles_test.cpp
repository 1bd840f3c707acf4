// Every title of a run's page is printed for a record that supports it, and for one that does not
// it is not.
#include <functional>
#include <string>
#include <vector>

#include "headroom_lab/report/report.hpp"
#include "headroom_lab/report/study.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A title, or the part of it that states something, and changes of the small run with which it is
/// right or wrong.
struct Title {
  const char* words;
  std::function<std::string(const RunFindings&)> of;
  std::function<void(ReportRecord&)> right, wrong;
};

std::string loss(const RunFindings& found) { return found.loss->title; }
std::string measure(const RunFindings& found) { return found.measures.at(0)->title; }
std::string differences(const RunFindings& found) { return found.differences->title; }
std::string heads(const RunFindings& found) { return found.heads->title; }
std::string before_after(const RunFindings& found) { return found.before_after->title; }
std::string telemetry(const RunFindings& found) { return found.telemetry->title; }
std::string maps(const RunFindings& found) { return found.maps->title; }
std::string importance(const RunFindings& found) { return found.importance->title; }
std::string criterion(const RunFindings& found) { return found.criteria.at(0).title; }
std::string sums(const RunFindings& found) { return found.importance_sums->title; }
std::string arms(const RunFindings& found) { return found.arms->title; }

void as_it_is(ReportRecord&) {}

/// A number of every line of metrics, for one model.
std::function<void(ReportRecord&)> scaled(std::string model, std::string key, double factor) {
  return [=](ReportRecord& run) {
    for (MetricsLine& line : run.metrics) {
      if (line.model == model) line.numbers[key] *= factor;
    }
  };
}

/// 2 kinds x 2 layers x 6 heads. Those are alive whose layer or kind has a number of them left.
std::function<void(ReportRecord&)> kept(std::vector<Index> encoder, std::vector<Index> cross) {
  return [=](ReportRecord& run) {
    run.heads.clear();
    run.telemetry.clear();
    for (Index i = 0; i < 24; ++i) {
      const bool is_cross = i >= 12;
      const Index layer = i / 6 % 2, head = i % 6;
      run.heads.push_back(
          {.id = {is_cross ? AttentionKind::cross : AttentionKind::encoder_self, layer, head}});
      if (head >= (is_cross ? cross : encoder).at(std::size_t(layer))) {
        run.heads.back().removed_at = 100;
      }
    }
  };
}

/// Heads whose cost rises with their number, and whose importance is given: that of the run, and
/// that of its only criterion.
std::function<void(ReportRecord&)> scored(std::vector<double> importance) {
  return [=](ReportRecord& run) {
    for (std::size_t i = 0; i < run.heads.size(); ++i) {
      run.heads[i].cost = double(i);
      run.heads[i].importance = importance[i];
    }
    run.criteria = {{.name = "fisher", .formula = "", .chose = true, .importance = importance}};
  };
}
const std::vector<double> rising{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
    mixed{1, 12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7};

std::function<void(ReportRecord&)> with_sums(std::vector<ImportanceSums> sums) {
  return [=](ReportRecord& run) { run.importance_sums = sums; };
}

/// Exact match with the metric's heads removed, with random ones, and with the costliest: of 6
/// right after the removal, of 12 after recovery.
std::function<void(ReportRecord&)> with_arms(double cut, std::vector<double> random_cut,
                                             double recovered, std::vector<double> random_recovered,
                                             double costliest) {
  return [=](ReportRecord& run) {
    const std::vector<double> same(random_cut.size(), 1), none(random_recovered.size(), 0);
    run.arms = ArmsRecord{.recovery = 250, .test_examples = 1000, .chosen_by = "fisher"};
    run.arms->arms = {{"fisher", 6, {cut}, {1}},
                      {"random", 6, random_cut, same},
                      {"fisher", 12, {0}, {recovered}},
                      {"random", 12, none, random_recovered},
                      {"costliest", 12, {0}, {costliest}}};
  };
}
// Draws of which one is above 99.7 % and one below 98.0 %, and draws that are close together.
const std::vector<double> wide{0.998, 0.992, 0.957}, narrow{0.951, 0.953, 0.955, 0.952, 0.954},
    low{0.3, 0.4, 0.2, 0.35, 0.25};

/// Times of a step and of its attention before and after removal, and their arithmetic.
std::function<void(ReportRecord&)> timed(std::vector<double> step, std::vector<double> attention,
                                         std::vector<double> flops) {
  return [=](ReportRecord& run) {
    for (std::size_t i = 0; i < 2; ++i) {
      ComparisonRow& row = run.before_after[i];
      row.step_ms = step[i];
      row.attention_ms = attention[i];
      row.step_flops = flops[i];
      row.attention_flops = i == 0 ? 2e6 : 1e6;
    }
  };
}

/// Exact match before and after removal, on 1000 examples.
std::function<void(ReportRecord&)> of_examples(double before, double after) {
  return [=](ReportRecord& run) {
    with_arms(0, low, 0, low, 0)(run);
    run.before_after[0].exact_match = before;
    run.before_after[1].exact_match = after;
  };
}

const std::vector<Title> titles{
    {"their curves coincide", loss, as_it_is, scaled("fused", "loss", 1.5)},
    {"Both losses fall", loss, as_it_is,
     [](ReportRecord& run) {
       for (MetricsLine& line : run.metrics) line.numbers["loss"] = 3;
     }},
    {"Both models reach 90.0 %", measure, as_it_is, scaled("fused", "exact_match", 0.5)},
    {"The layouts start as the same function", differences, as_it_is,
     [](ReportRecord& run) { run.separate_vs_fused->parameter_gradient = 1e-3; }},
    {"Cross-attention keeps 11 of 12 heads, encoder self-attention only 1", heads,
     kept({1, 0}, {6, 5}), kept({3, 3}, {3, 3})},
    {"No clear pattern", heads, kept({3, 3}, {3, 3}), kept({6, 0}, {5, 1})},
    {"Layer 0 keeps 11 of 12 heads, layer 1 only 1", heads, kept({6, 0}, {5, 1}),
     kept({3, 3}, {4, 2})},
    {"A step is 8.68 times faster", before_after, timed({21.7, 2.5}, {8, 4}, {9e6, 1e6}),
     timed({21.7, 2.5}, {8, 4}, {9e6, 7e6})},
    {"The times of a step are noisy", before_after, timed({21.7, 2.5}, {8, 4}, {9e6, 7e6}),
     timed({21.7, 18.0}, {8, 4}, {9e6, 7e6})},
    {"A step is 1.25 times faster", before_after, as_it_is,
     [](ReportRecord& run) { run.before_after[1].step_ms = 37.5; }},
    {"exact match 0.5 points lower", before_after, as_it_is,
     [](ReportRecord& run) { run.before_after[1].exact_match = run.before_after[0].exact_match; }},
    {", exact match 9.0 points lower", before_after, of_examples(0.9, 0.81),
     of_examples(0.9, 0.898)},
    {", exact match 9.0 points higher", before_after, of_examples(0.81, 0.9),
     of_examples(0.898, 0.9)},
    {", no clear difference in exact match", before_after, of_examples(0.9, 0.898),
     of_examples(0.9, 0.81)},
    {", no clear difference in exact match", before_after, of_examples(0.898, 0.9),
     of_examples(0.81, 0.9)},
    {"Heads focus", telemetry, as_it_is,
     [](ReportRecord& run) {
       run.telemetry.back().entropy = run.telemetry.front().entropy;
       run.telemetry.back().entropy.resize(run.telemetry.back().heads.size());
     }},
    {"Head cross 0.0 points", maps, as_it_is,
     [](ReportRecord& run) {
       for (auto& row : run.examples[0].maps[1].rows) row = {0.4, 0.3, 0.3};
     }},
    {"Importance predicts the cost of removal (", importance, scored(rising), scored(mixed)},
    {"fisher predicts the cost of removal (", criterion, scored(rising), scored(mixed)},
    {"Sensitivity fell 120 times, while the cost of removal stayed", sums,
     with_sums({{100, 12, 13}, {1300, 0.1, 8}}), with_sums({{100, 12, 13}, {1300, 0.1, 1}})},
    {"90.0 % are exact with the choice of fisher, 20.0 to 40.0 % with random ones;", arms,
     with_arms(0.9, low, 0, wide, 0), with_arms(0.4, low, 0, wide, 0)},
    // One random draw is above the best choice, another one below the worst.
    {"no choice differs clearly from random ones", arms, with_arms(0, low, 0.997, wide, 0.980),
     with_arms(0, low, 0.997, narrow, 0.9)},
    {"fisher is clearly better than random choices", arms, with_arms(0, low, 0.997, narrow, 0.951),
     with_arms(0, low, 0.997, wide, 0.951)},
    {"costliest is clearly worse than random choices", arms, with_arms(0, low, 0.953, narrow, 0.9),
     with_arms(0, low, 0.953, wide, 0.95)},
};

}  // namespace

TEST_CASE("a title is printed where the record supports it, and only there") {
  for (const Title& title : titles) {
    INFO(title.words);
    ReportRecord right = small_run(), wrong = small_run();
    title.right(right);
    title.wrong(wrong);
    CHECK_THAT(title.of(findings(right)), Contains(title.words));
    CHECK_THAT(title.of(findings(wrong)), !Contains(title.words));
  }
}

TEST_CASE("a single random draw, or two that are equal, make no clear difference") {
  const auto title = [](const std::vector<double>& random, double recovered) {
    ReportRecord run = small_run();
    with_arms(0.9, {0.1}, recovered, random, recovered)(run);
    return findings(run).arms->title;
  };
  CHECK_THAT(title({0.5}, 0.9), Contains("with random ones (no clear difference)") &&
                                    Contains("no choice differs clearly from random ones"));
  // Draws that agree by chance leave that of the test examples: 2.6 points at 91 %.
  CHECK_THAT(title({0.9, 0.9, 0.9}, 0.92), Contains("no choice differs clearly"));
  CHECK_THAT(title({0.9, 0.9, 0.9}, 0.93), Contains("clearly better than random choices"));
  // Draws of 60 to 68 %: their mean is known to 3.9 points, one more draw to 9.6.
  const std::vector<double> spread{0.60, 0.62, 0.64, 0.66, 0.68};
  CHECK_THAT(title(spread, 0.71), Contains("no choice differs clearly"));
  CHECK_THAT(title(spread, 0.75), Contains("clearly better than random choices"));
}

TEST_CASE("a tile calls no difference by chance better or worse") {
  const auto by_chance = [](double after) {
    ReportRecord run = small_run();
    of_examples(0.9, after)(run);
    return report_page(run, "").find("\"by_chance\":true") != std::string::npos;
  };
  CHECK(by_chance(0.898));
  CHECK(by_chance(0.902));
  CHECK_FALSE(by_chance(0.81));
}

TEST_CASE("noisy times are called so in the summary, the caption and the page") {
  ReportRecord run = small_run();
  timed({21.7, 18}, {21.7, 2.5}, {9e6, 7e6})(run);
  RunFindings found = findings(run);
  CHECK_THAT(found.before_after->title, Contains("A step is 1.21 times faster"));
  CHECK_THAT(found.before_after->caption,
             Contains("The times of attention are noisy: the speed-up of 8.68 is more than 10 % "
                      "above 2.00, the ratio of the arithmetic.") &&
                 !Contains("times of a step"));
  CHECK_THAT(found.summary, !Contains("noisy"));
  CHECK_THAT(report_page(run, ""), Contains("\"noisy\":[\"attention_ms\"]"));
  timed({21.7, 2.5}, {8, 4}, {9e6, 7e6})(run);
  found = findings(run);
  CHECK_THAT(found.before_after->caption, Contains("The times of a step are noisy"));
  CHECK_THAT(found.summary, Contains("from 21.7 to 2.5 ms (noisy times)."));
  run.before_after[0].step_flops.reset();  // records of earlier runs lack the arithmetic
  CHECK_THAT(findings(run).before_after->title, Contains("A step is 8.68 times faster"));
}

TEST_CASE("a study's title names all metrics whose regret is smaller than the most others") {
  const auto title = [](const std::vector<std::string>& metrics, bool candidates) {
    StudyResults r;
    r.declaration = {{"measures", {"loss"}}};
    r.regret = {{.game = "cross", .metric = "z"}};
    for (const std::string& metric : metrics) {  // each has a smaller regret than z
      r.regret.push_back({.game = "cross", .metric = metric, .candidate = candidates});
      r.regret_contrasts.push_back({metric, "z", -2, Interval{-2, -3, -1}, 0.001, 0.01, 3});
    }
    return study_sections(r).at(3).finding.title;
  };
  CHECK(title({"x", "y"}, true) ==
        "The regret of each of x, y is smaller than that of 1 of 2 other metrics");
  CHECK(title({"t", "u", "v", "w", "x"}, true) ==
        "The regret of each of 5 metrics is smaller than that of 1 of 5 other metrics");
  CHECK(title({"x", "y"}, false) == "No two metrics have regrets to compare");
}

TEST_CASE("a study's title names the one pair of two metrics once, and none without an order") {
  StudyResults r;
  r.declaration = {{"measures", {"loss"}}};
  r.agreement = {{"a", "b", Interval{0.25, 0.1, 0.4}}, {"b", "a", Interval{0.25, 0.1, 0.4}}};
  CHECK(study_sections(r).at(0).finding.title ==
        "2 metrics score the heads; the rank correlation of a and b is 0.25");
  for (StudyAgreement& pair : r.agreement) pair.correlation = std::nullopt;
  CHECK(study_sections(r).at(0).finding.title ==
        "2 metrics score the heads; no two of them tell heads apart");
}
