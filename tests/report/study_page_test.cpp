// Findings and page of a study, from results with known numbers.
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "headroom/base/record_json.hpp"
#include "headroom_lab/report/study.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/small_study_results.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace small_study;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// The title of a section of results that `change` has changed.
std::string title(std::size_t section, const std::function<void(StudyResults&)>& change = {}) {
  StudyResults results = small_results();
  if (change) change(results);
  return study_sections(results).at(section).finding.title;
}

/// The record inside a page.
nlohmann::json record_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"run\">";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("a study's page has the ten sections in their order") {
  const std::vector<std::string> names{"Attention head scores", "Pruning candidates",
                                       "Model performance",     "Importance vs. performance",
                                       "Threshold selection",   "Pruning and speed evaluation",
                                       "Comparative analysis",  "Iterative refinement",
                                       "Cross-validation",      "Reporting and decision"};
  const std::vector<StudySection> sections = study_sections(small_results());
  REQUIRE(sections.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(sections[i].name == names[i]);
    CHECK_FALSE(sections[i].finding.caption.empty());
  }
}

TEST_CASE("titles of scores, candidates and performance follow from the numbers") {
  CHECK(title(0) ==
        "3 metrics score the heads; the rank correlation of two is between 0.25 (a and b) and 0.75 "
        "(a and c)");
  CHECK(title(0, [](StudyResults& r) { r.agreement.resize(1); }) == "One metric scores the heads");
  CHECK(title(0, [](StudyResults& r) { r.agreement.clear(); }) == "No heads have been scored yet");

  CHECK(title(1) == "3 of 3 runs are done: 2 conditions, 2 arms, 2 controls");
  CHECK(title(1, [](StudyResults& r) {
          r.cells.clear();
          r.conditions.resize(1);
          r.controls = {"none", "random", "magnitude"};
        }) == "0 of 3 runs are done: 1 condition, 1 arm, 3 controls");

  CHECK(title(2) == "Better than random in exact match: sensitivity under 1 of 1 condition");
  CHECK(title(2, [](StudyResults& r) { r.contrasts[1].holm = 0.01; }) ==
        "Better than random in exact match: sensitivity under 1. Worse than random in exact match: "
        "magnitude under 1 of 1 condition");
  CHECK(title(2, [](StudyResults& r) { r.contrasts.clear(); }) ==
        "No arm is compared with random by exact match yet");
  CHECK(title(2, [](StudyResults& r) {  // the declaration names another reference
          r.declaration["contrasts"] = {{"against", "none"}};
        }) == "No arm is compared with none by exact match yet");
  CHECK(title(2, [](StudyResults& r) {  // of a loss the smaller is the better
          r.declaration["measures"] = {"validation_loss"};
          for (StudyContrast& c : r.contrasts) c.measure = "validation_loss";
        }) == "Worse than random in validation loss: sensitivity under 1 of 1 condition");
}

TEST_CASE("a title calls nothing better that no paired contrast supports") {
  // The best mean under all conditions, and no comparison is significant after correction.
  const std::string none = "No difference in exact match from random is established";
  const auto insignificant = [](StudyResults& r) {
    r.contrasts[0].p = 0.03;
    r.contrasts[0].holm = 0.06;
  };
  CHECK(title(2, insignificant) == none);
  CHECK_THAT(title(6, insignificant), Contains("0 of 2 comparisons"));
  // The difference is the same in all seeds: no interval and no p.
  const auto tied = [](StudyResults& r) {
    for (StudyContrast& c : r.contrasts) {
      c.interval = std::nullopt;
      c.p = c.holm = std::nullopt;
      c.difference = 0.02;
    }
  };
  CHECK(title(2, tied) == none);
  CHECK(title(4, tied) ==
        "2 comparisons have no interval, because the difference from all heads is the same in all "
        "seeds");
  CHECK(title(6, tied) ==
        "0 of 2 comparisons of the family are significant at the level of 5 % after Holm's "
        "correction: 0 better, 0 worse; 2 have no p, because the difference is the same in all "
        "seeds");
  CHECK(title(9, tied) ==
        "No decision: 2 comparisons have no interval, because the difference from all heads is the "
        "same in all seeds");
  CHECK(title(9,
              [](StudyResults& r) {
                r.declaration["acceptable_loss"] = 0.001;
                r.contrasts[3].interval = std::nullopt;
                r.contrasts[3].difference = 0;
              }) ==
        "Keep all heads: no smaller model is acceptable for the whole 95 % interval; 1 comparison "
        "has no interval, because the difference from all heads is the same in all seeds");
  // Two seeds, however small their p.
  const auto two_seeds = [](StudyResults& r) {
    for (StudyContrast& c : r.contrasts) c.seeds.resize(2);
    for (StudyEffect& e : r.effects) e.seeds.resize(2);
    for (RegretContrast& c : r.regret_contrasts) c.seeds = 2;
  };
  const std::string too_few = "2 seeds are too few to compare arms: at least 3 are needed";
  for (const std::size_t section : std::vector<std::size_t>{2, 3, 6, 7})
    CHECK(title(section, two_seeds) == too_few);
  CHECK(title(4, two_seeds) == too_few);
  CHECK(title(9, two_seeds) == "No decision: " + too_few);
  CHECK(title(9, [](StudyResults& r) {
          for (StudyContrast& c : r.contrasts) c.seeds.resize(1);
        }) == "No decision: 1 seed is too few to compare arms: at least 3 are needed");
  CHECK(title(9, [](StudyResults& r) { r.contrasts.clear(); }) ==
        "No decision: no arm is compared with the control none, the model with all heads");
  // The smallest regret of all, by a difference that chance explains.
  CHECK(title(3, [](StudyResults& r) {
          for (RegretContrast& c : r.regret_contrasts) c.holm = 0.05;
        }) == "No difference between the regrets of 3 metrics is established");
}

TEST_CASE("a study whose models have not learned the task compares nothing and decides nothing") {
  const auto unlearned = [](StudyResults& r) {
    r.task_checks = {{"cells/b", 2, 0, learned_check()},
                     {"cells/d", 3, 0,
                      TaskCheck{.measure = "accuracy",
                                .examples = 1000,
                                .model = 0.514,
                                .constant = 0.503,
                                .p = 0.3}}};
  };
  const std::string warning =
      "The models have not learned the task: with all heads, 1 of 2 are not clearly better than "
      "the best constant answer (seed 3: accuracy 51.4 %, best constant answer 50.3 %)";
  StudyResults results = small_results();
  CHECK(study_warning(results) == "");
  CHECK(acceptable_losses(results).size() == 2);
  unlearned(results);
  CHECK(study_warning(results) == warning);
  CHECK(acceptable_losses(results).empty());
  CHECK(title(9, unlearned) == "No decision. " + warning);
  for (const std::size_t section : std::vector<std::size_t>{0, 2, 3, 4, 6, 7}) {
    CHECK(title(section, unlearned) == "No finding: the models have not learned the task");
  }
  for (const std::size_t section : std::vector<std::size_t>{1, 5, 8})
    CHECK(title(section, unlearned) == title(section));
  // It comes first on the page.
  const std::string page = study_page(results, "");
  CHECK(page.find("No decision. The models have not learned the task") < page.find("\"sections\""));
  // Runs of a version that did not check it.
  CHECK_THAT(title(9, [](StudyResults& r) { r.task_checks[0].check = std::nullopt; }),
             StartsWith("No decision. It is not known whether the models have learned the task") &&
                 Contains("1 of 1 models"));
}

TEST_CASE("titles of importance, threshold, speed and comparison follow from the numbers") {
  CHECK(title(3) == "The regret of each of a, c is smaller than that of 1 of 2 other metrics");
  CHECK(title(3, [](StudyResults& r) { r.regret_contrasts[0].holm = 0.4; }) ==
        "The regret of c is smaller than that of 1 of 2 other metrics");
  CHECK(title(3, [](StudyResults& r) { r.regret.resize(2); }) ==
        "No two metrics have regrets to compare");
  CHECK(title(3, [](StudyResults& r) { r.regret.clear(); }) ==
        "This study has not measured the losses of all subsets");

  CHECK(title(4) == "8 heads are enough: sensitivity (prune 4)");
  CHECK(title(4, [](StudyResults& r) { r.declaration["acceptable_loss"] = 0.015; }) ==
        "10 heads are enough: sensitivity (prune 2)");
  CHECK(title(4, [](StudyResults& r) { r.declaration["acceptable_loss"] = 0.01; }) ==
        "No smaller model is acceptable for the whole 95 % interval");

  CHECK(title(5) == "A model with 8 of 12 heads has 80 % of the parameters");
  CHECK(title(5, [](StudyResults& r) { r.cells.clear(); }) == "No run is done yet");

  const std::string of_family = " of the family ";
  CHECK(title(6) == "1 of 2 comparisons" + of_family +
                        "are significant at the level of 5 % after Holm's correction: 1 better, 0 "
                        "worse");
  CHECK_THAT(title(6, [](StudyResults& r) { r.contrasts[1].holm = 0.0499; }),
             Contains("2 of 2 comparisons") && Contains("1 better, 1 worse"));
  CHECK_THAT(title(6, [](StudyResults& r) { r.contrasts[0].measure = "validation_loss"; }),
             Contains("0 better, 1 worse"));
  CHECK_THAT(title(6, [](StudyResults& r) { r.contrasts[0].holm = 0.05; }), Contains("0 of 2"));
  CHECK(title(6, [](StudyResults& r) {
          for (StudyContrast& c : r.contrasts) c.in_family = false;
        }) == "No comparison" + of_family + "is done yet");
}

TEST_CASE("titles of refinement, validation and decision follow from the numbers") {
  CHECK(title(7) ==
        "For 1 of 2 differences between levels of factors, the interval of exact match excludes 0");
  CHECK_THAT(title(7,
                   [](StudyResults& r) {
                     r.effects.resize(1);
                     r.effects[0].interval = Interval{-0.03, -0.05, -0.01};
                   }),
             Contains("1 of 1 difference between"));
  CHECK(title(7, [](StudyResults& r) { r.effects.clear(); }) ==
        "No two levels of a factor can be compared");

  // Half-widths: 0.009, 0.1, 0.003, 0.075, 0.0015, 0.01.
  CHECK(title(8) == "3 seeds: the median half-width of the 95 % intervals is 1.0 %");
  CHECK_THAT(study_sections(small_results())[8].finding.caption,
             Contains("no examples are divided into folds"));
  StudyResults folds = small_results();
  folds.declaration["folds"] = 5;
  CHECK_THAT(study_sections(folds)[8].finding.title, Contains("3 seeds of 5 folds: "));
  CHECK_THAT(study_sections(folds)[8].finding.caption,
             Contains("divided into 5 folds, and each run is tested on the fold that it does not "
                      "train on"));
  CHECK(title(8, [](StudyResults& r) {
          for (StudyMean& m : r.means) m.mean.low = m.mean.high = m.mean.value;
        }) == "No arm has an interval: its exact match is the same in all seeds");
  CHECK(title(8, [](StudyResults& r) {
          for (StudyMean& m : r.means) m.seeds.resize(1);
          for (StudyMean& m : r.means) m.mean.low = m.mean.high = m.mean.value;
        }) == "No arm is done for two seeds yet");

  CHECK(title(9) ==
        "Keep 8 heads, chosen by sensitivity (prune 4): exact match 95.1 % [94.2, 96.0]");
  CHECK(title(9, [](StudyResults& r) { r.declaration["acceptable_loss"] = 0.01; }) ==
        "Keep all heads: no smaller model is acceptable for the whole 95 % interval");
  // The validation set chooses, the test set reports, in whichever order they are declared.
  for (const auto& measures :
       {Record{"exact_match", "test.exact_match"}, Record{"test.exact_match", "exact_match"}}) {
    CHECK(title(9,
                [&](StudyResults& r) {
                  r.declaration["measures"] = measures;
                  r.means.push_back(mean(0, "sensitivity", 8, {0.9, 0.8, 0.95}));
                  r.means.back().measure = "test.exact_match";
                }) ==
          "Keep 8 heads, chosen by sensitivity (prune 4): exact match on the test set 90.0 % "
          "[80.0, 95.0]");
  }
  CHECK_THAT(study_sections(small_results())[9].finding.caption,
             Contains("declare the same measure of the test set"));
  CHECK(title(9, [](StudyResults& r) { r.cells_planned = 4; }) ==
        "No decision yet: 3 of 4 runs are done");
}

TEST_CASE("the provenance of a study says when, where and how long") {
  StudyResults r = small_results();
  CHECK(study_provenance(r).finding.title == "No record says where and when the runs were trained");
  CHECK(study_provenance(r).tables.empty());
  StudyProvenance& from = r.provenance;
  from.machines = {"north"};
  from.from = "2026-11-25T23:00:00Z";
  from.to = "2026-11-26T01:00:00Z";
  from.seconds = 90;
  from.runs["cell-a"] = {60, false, from.from, "north", "P"};
  from.runs["cell-b"] = {30, true, from.to, "north", "P"};
  const StudySection section = study_provenance(r);
  CHECK(section.finding.title ==
        "2 runs and measurements took 1:30 in all on 1 machine, from 2026-11-25 to "
        "2026-11-26");
  REQUIRE(section.tables.size() == 2);
  CHECK_THAT(csv_text(section.tables[0]), Contains("last run ended,2026-11-26T01:00:00Z\r\n"));
  // A resumed run has the time of its last part only.
  CHECK(csv_text(section.tables[1]) ==
        "arm,runs,seconds of a run,fastest,slowest\r\nsensitivity,1,60,60,60\r\n");
  from.warning = "Arms are confounded";
  CHECK(study_provenance(r).finding.title == "Arms are confounded");
}

TEST_CASE("measures in words") {
  CHECK(measure_in_words("cut.test.exact_match") ==
        "exact match on the test set, right after the last removal");
  CHECK(measure_in_words("validation_loss") == "validation loss");
}

TEST_CASE("a study's page holds the numbers that it was given") {
  const StudyResults results = small_results();
  const nlohmann::json page = record_of(study_page(results, ""));
  CHECK(page["kind"] == "study");
  const auto same = [&](const char* key, const Record& given) {
    CHECK(page[key] == nlohmann::json::parse(given.dump()));
  };
  same("means", json_of(results.means));
  same("contrasts", json_of(results.contrasts));
  same("effects", json_of(results.effects));
  same("agreement", json_of(results.agreement));
  same("regret", json_of(results.regret));
  const std::vector<StudySection> sections = study_sections(results);
  REQUIRE(page["sections"].size() == sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    CHECK(page["sections"][i]["name"] == sections[i].name);
    CHECK(page["sections"][i]["finding"]["title"] == sections[i].finding.title);
    REQUIRE(page["sections"][i]["tables"].size() == sections[i].tables.size());
  }
  CHECK(page["sections"][6]["tables"][0]["title"] == "Comparisons of the family");
  CHECK(page["sections"][3]["tables"][0]["title"] ==
        "Regret in the game of cross, by the number of heads kept");
  CHECK(page["contrasts"][0]["holm"] == 0.0342);
  CHECK(page["contrasts"][2]["holm"].is_null());
  same("regret_contrasts", json_of(results.regret_contrasts));
  same("task_checks", json_of(results.task_checks));
  CHECK(page["groups"] == nlohmann::json::parse(R"([{"text": "", "conditions": [0, 1]}])"));
  CHECK(page["origin"]["name"] == "Provenance");
  CHECK(page["curves"] == nlohmann::json::parse(R"([{"condition": 0, "arm": "sensitivity",
    "runs": [{"seed": 1, "points": [[0, 2.5], [90, 1.25]]}]}])"));
  CHECK_FALSE(page.contains("scores"));
  // Back from the heads that are left: through the swap, past the measurement.
  REQUIRE(page["timelines"].size() == 1);
  const nlohmann::json& line = page["timelines"][0];
  CHECK(line["arm"] == "sensitivity");
  CHECK(line["begin"] == nlohmann::json::parse(R"({"encoder": 3, "decoder": 4, "cross": 3})"));
  CHECK(line["events"] == nlohmann::json::parse(R"([
    {"step": 21, "alive": {"encoder": 3, "decoder": 4, "cross": 2}},
    {"step": 30, "alive": {"encoder": 4, "decoder": 4, "cross": 0}}])"));
}

TEST_CASE("a browser draws a study's page, and everyone can read it") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_study_page(small_results(), folder / "study.html");
  for (const OpenedPage& page : check_page(folder / "study.html", folder / "browser")) {
    std::size_t number = 0;
    for (const StudySection& section : study_sections(small_results())) {
      CHECK_THAT(page.dom, Contains(std::to_string(++number) + ". " + section.name + "</h2>"));
    }
    CHECK_THAT(page.dom, Contains("Which heads, &lt;b&gt;if any&lt;/b&gt;?"));
    CHECK_THAT(page.dom, Contains("<td>95.1 [94.2, 96]</td>"));
    CHECK_THAT(page.dom, Contains("<th scope=\"row\" class=\"words\">sensitivity</th>") &&
                             Contains("<td class=\"words\">random</td>") &&
                             Contains("<td>25.1 [20, 30.2]</td>") && Contains("<td>0.0171</td>") &&
                             Contains("<td>0.0342</td>") && Contains("<td>0.204</td>"));
    CHECK_THAT(page.dom, Contains("step 21 3 encoder, 4 decoder, 2 cross; step 30 4 encoder, 4 "
                                  "decoder, 0 cross"));
    CHECK_THAT(page.dom, Contains("0.25 [0.1, 0.4]") && Contains("1.25 [1.1, 1.4]"));
    CHECK_THAT(page.dom, Contains("1.25<small>1.10–1.40</small>"));
    CHECK_THAT(page.dom, Contains("exact match against parameters. sensitivity: 800, 95.1 %") &&
                             Contains("validation loss at the end: seed 1 1.25"));
  }
}

TEST_CASE("a browser draws differences without an interval and means of one seed") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  StudyResults results = small_results();
  results.contrasts[0].interval = std::nullopt;
  results.contrasts[0].p = results.contrasts[0].holm = std::nullopt;
  for (StudyMean& m : results.means) m.mean.low = m.mean.high = m.mean.value;
  write_study_page(results, folder / "study.html");
  const OpenedPage page = open_page(folder / "study.html", folder / "browser", 1000, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("<td>25.1</td><td>3</td><td></td><td></td>"));
  CHECK_THAT(page.dom, Contains("<td>8</td><td>800</td><td>4,000</td><td>3</td><td>95.1</td>"));
}

TEST_CASE("a browser draws the page of a study that has just begun") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  StudyResults results = small_results();
  results.cells.clear();
  results.roles.clear();
  results.means.clear();
  results.contrasts.clear();
  results.effects.clear();
  results.agreement.clear();
  results.regret.clear();
  results.regret_contrasts.clear();
  results.task_checks.clear();
  write_study_page(results, folder / "study.html");
  const OpenedPage page = open_page(folder / "study.html", folder / "browser", 1000, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("No decision yet: 0 of 3 runs are done"));
}
