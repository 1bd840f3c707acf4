// The report's findings follow from a run's numbers: curves, measures, the summary.
#include <cmath>
#include <string>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

std::string loss_title(const ReportRecord& run) { return findings(run).loss->title; }
std::string loss_caption(const ReportRecord& run) { return findings(run).loss->caption; }
std::string measure_title(const ReportRecord& run) { return findings(run).measures.at(0)->title; }
std::string differences_title(const ReportRecord& run) { return findings(run).differences->title; }

/// Two models' losses at steps 0, 10, 20, ...
ReportRecord losses(const std::vector<double>& separate, const std::vector<double>& fused) {
  ReportRecord run{{.title = "losses"}};
  const auto add = [&](const char* model, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      run.metrics.push_back(
          {.step = Index(10 * i), .model = model, .numbers = {{"loss", values[i]}}});
    }
  };
  add("separate", separate);
  add("fused", fused);
  return run;
}

}  // namespace

TEST_CASE("a run that learned, diverged and lost heads says so in every section") {
  const ReportRecord run = small_run();
  const RunFindings found = findings(run);
  CHECK(found.loss->title == "Both losses fall, and their curves coincide");
  CHECK(measure_title(run) == "Both models reach 90.0 % exact match by step 90");
  CHECK(found.differences->title ==
        "The layouts start as the same function and diverge at step 70");
  CHECK(found.telemetry->title ==
        "Heads focus: their mean entropy falls from 0.90 to 0.52 of the maximum");
  CHECK_THAT(found.telemetry->caption, Contains("Measured on the fused model."));
  CHECK(found.maps->title == "Head cross 0.0 points: its largest weight is 0.85 on average");
  CHECK(found.summary ==
        "Two models with different layouts started as the same function (outputs within 3.6e-7) "
        "and were trained in lockstep for 200 steps. The less accurate model predicted 99.4 % of "
        "unseen examples exactly, and 98.9 % after removing 6 of 12 heads (the last one 45 steps "
        "before the end) and at least 95 more training steps. A training step of the fused model "
        "went from 38.0 to 30.4 ms.");
}

TEST_CASE(
    "of a model that has not learned its task a report says that first, and nothing of heads") {
  ReportRecord run = small_run();
  run.task_check = TaskCheck{
      .measure = "loss", .examples = 900, .model = 2, .constant = 9, .p = 0.001, .learned = true};
  CHECK(findings(run).summary == findings(small_run()).summary);
  CHECK(findings(run).maps->title == findings(small_run()).maps->title);

  run.task_check =
      TaskCheck{.measure = "loss", .examples = 900, .model = 23.17, .constant = 22.9, .p = 0.7};
  run.criteria = {{"fisher", "f", true, std::vector<double>(run.heads.size(), 1)}};
  const RunFindings found = findings(run);
  CHECK_THAT(found.summary,
             StartsWith("The model with 6 of 12 heads has not learned the task: its loss of 23.17 "
                        "nats per example is not clearly better than the 22.9 of the best constant "
                        "answer (900 test examples). Two models with"));
  const std::string withheld = "No finding: the model has not learned the task";
  for (const auto section : {&RunFindings::heads, &RunFindings::telemetry, &RunFindings::maps,
                             &RunFindings::importance}) {
    REQUIRE((found.*section).has_value());
    CHECK((found.*section)->title == withheld);
    CHECK_FALSE((found.*section)->caption.empty());
  }
  REQUIRE(found.criteria.size() == 1);
  CHECK(found.criteria[0].title == withheld);
  CHECK(found.loss->title == findings(small_run()).loss->title);
  for (HeadRecord& head : run.heads) head.removed_at = std::nullopt;
  CHECK_THAT(findings(run).summary, StartsWith("The model has not learned the task: "));
}

TEST_CASE("losses are compared on the log scale on which they are drawn") {
  // The same absolute difference of 0.01: invisible at 4, a factor of two at 0.01.
  const std::vector<double> first = {4, 2, 1, 0.1, 0.01}, late = {4, 2, 1, 0.1, 0.02};
  CHECK(loss_title(losses(first, first)) == "Both losses fall, and their curves coincide");
  CHECK(loss_title(losses(first, {4, 2, 1.01, 0.1, 0.01})) ==
        "Both losses fall, and their curves coincide");
  CHECK(loss_title(losses(first, late)) == "Both losses fall, and their curves diverge at step 40");
  CHECK(loss_caption(losses(first, late)) ==
        "Loss per step on a log scale. At step 40 they first differ by more than 5 % of the height "
        "of the chart. They differ most at step 40, by a factor of 2.");
  CHECK(loss_caption(losses(first, {4, 3, 1, 0.1, 0.05})) ==
        "Loss per step on a log scale. At step 10 they first differ by more than 5 % of the height "
        "of the chart. They differ most at step 40, by a factor of 5.");
  // 5 % of the height: ln(400) / 20 = 0.2996, a factor of 1.349.
  CHECK(loss_title(losses(first, {4, 2, 1.34, 0.1, 0.01})) ==
        "Both losses fall, and their curves coincide");
  CHECK(loss_title(losses(first, {4, 2, 1.36, 0.1, 0.01})) ==
        "Both losses fall, and their curves diverge at step 20");

  ReportRecord apart = losses(first, first);
  for (MetricsLine& line : apart.metrics) line.step += line.model == "fused";
  CHECK(loss_title(apart) == "Both losses fall");
  CHECK_THAT(loss_caption(apart),
             EndsWith("They have no step in common at which to compare them."));
  CHECK(loss_title(losses({4, 0, 1}, {4, 2, 1})) == "Both losses fall, and their curves coincide");

  ReportRecord three = losses(first, first);
  for (std::size_t i = 0; i < late.size(); ++i) {
    three.metrics.push_back(
        {.step = Index(10 * i), .model = "shared", .numbers = {{"loss", late[i]}}});
  }
  CHECK(loss_title(three) == "All losses fall, and their curves diverge at step 40");
}

TEST_CASE("a loss that did not fall is called what it is, whichever model's it is") {
  struct Case {
    std::vector<double> separate, fused;
    const char* title;
  };
  const std::vector<Case> cases = {
      {{3, 1}, {3, 1}, "Both losses fall, and their curves coincide"},
      {{3, 1}, {3, 2}, "Both losses fall, and their curves diverge at step 10"},
      {{3, 1}, {3, 9}, "The loss of the fused model rose from 3 to 9"},
      {{3, 9}, {3, 1}, "The loss of the separate model rose from 3 to 9"},
      {{3, 1}, {3, 2.9}, "No clear pattern: the loss of the fused model hardly changed"},
      {{3, 3.1}, {3, 9}, "The loss of the fused model rose from 3 to 9"},
      {{3, 1}, {3}, "The loss of the fused model was measured once: 3"},
      {{3, 1}, {}, "The loss falls from 3 to 1"},
      {{3, 3.1}, {}, "No clear pattern: the loss hardly changed"},
      {{3, 4}, {}, "The loss rose from 3 to 4"},
      {{3}, {}, "The loss was measured once: 3"},
  };
  for (const Case& c : cases) CHECK(loss_title(losses(c.separate, c.fused)) == c.title);
}

TEST_CASE("a validation loss that rose is called overfitting only if the training loss fell") {
  ReportRecord run{{.title = "Letters to phonemes"}};
  for (int step = 1; step <= 401; step += 100) {
    run.metrics.push_back(
        {.step = step, .numbers = {{"loss", 4.0 / step}, {"validation_loss", 4.0 / step}}});
  }
  CHECK(loss_title(run) == "The loss falls from 4 to 0.01");
  run.metrics[4].numbers["validation_loss"] = 2.0;
  CHECK(loss_title(run) == "Validation loss rose after step 301");
  CHECK(loss_caption(run) ==
        "It ends more than 5 % above its minimum, while the training loss fell further: the model "
        "overfits its training data.");
  run.metrics[4].numbers["loss"] = 3.0;
  CHECK_THAT(loss_caption(run),
             EndsWith("while the training loss did not fall further: overfitting "
                      "alone does not explain it."));
}

TEST_CASE("where the training loss includes label smoothing, the page says so") {
  ReportRecord run = small_run();
  CHECK_THAT(loss_caption(run), !Contains("smoothing"));
  run.config["training"] = {{"label_smoothing", 0.1}};
  CHECK_THAT(loss_caption(run), Contains("The training loss includes label smoothing of 0.1"));
  run.config["training"] = "unknown";
  CHECK_THAT(loss_caption(run), !Contains("smoothing"));
}

TEST_CASE("a measure reaches its goal, or ends short of it") {
  ReportRecord run = small_run();
  CHECK(findings(run).measures[0]->caption ==
        "Higher is better. The dashed line is the goal. Exact match ends at 100.0 % for the worst "
        "of them.");
  for (MetricsLine& line : run.metrics) {
    if (line.model == "fused") line.numbers["exact_match"] = 0.5;
  }
  CHECK(measure_title(run) == "Exact match ends at 50.0 %, short of the goal");
  run = small_run();
  for (MetricsLine& line : run.metrics) line.model = "fused";
  run.models = {"fused"};
  CHECK(measure_title(run) == "The model reaches 90.0 % exact match by step 90");
  run.measures[0].better = Better::lower;
  CHECK(measure_title(run) == "The model reaches 90.0 % exact match by step 0");
}

TEST_CASE("the summary and the finding of a measure tell of the same model, the worst") {
  ReportRecord run{{.title = "two models"}};
  const auto add = [&](const char* model, double loss, double exact, double per) {
    run.metrics.push_back(
        {.step = 9,
         .model = model,
         .numbers = {
             {"loss", loss}, {"validation_loss", loss}, {"exact_match", exact}, {"per", per}}});
  };
  add("first", 0.1, 1, 0.01);
  add("second", 0.2, 0.995, 0.02);
  add("third", 0.1, 0.999, 0.005);
  const RunFindings found = findings(run);
  CHECK(found.measures[0]->title == "Exact match ends at 99.5 %");
  CHECK(found.measures[1]->title == "Phoneme error rate ends at 2.0 %");
  CHECK_THAT(found.summary, Contains("Validation loss ends at 0.200. Exact match ends at 99.5 %. "
                                     "Phoneme error rate ends at 2.0 %."));
}

TEST_CASE("what any task measures has a finding and a curve") {
  for (const Measure& measure : quality_measures) {
    ReportRecord run{{.title = "measured"}};
    for (int step = 0; step < 3; ++step) {
      run.metrics.push_back(
          {.step = step, .numbers = {{"loss", 2.0 - step / 2.0}, {measure.key, 0.25 * step}}});
    }
    INFO(measure.key);
    CHECK_THAT(measure_title(run), Contains(" ends at 50.0 %"));
    CHECK_THAT(findings(run).summary, Contains(" ends at 50.0 %."));
  }
}

TEST_CASE("the same function and a divergence are claimed only where they were measured") {
  ReportRecord run = small_run();
  run.separate_vs_fused->input_gradient = 1e-3;
  CHECK(differences_title(run) == "The layouts did not start as the same function");
  CHECK_THAT(findings(run).summary, StartsWith("Two models that should have started as the same "
                                               "function did not and were trained"));
  run.separate_vs_fused->input_gradient = std::nan("");
  CHECK(differences_title(run) == "The layouts did not start as the same function");
  run.separate_vs_fused->tolerance.reset();
  CHECK(differences_title(run) == "The models diverge at step 70");
  CHECK_THAT(findings(run).summary, StartsWith("Two models started with outputs within 3.6e-7"));

  run = small_run();
  run.separate_vs_fused->forward = 0.0;
  CHECK_THAT(findings(run).summary, Contains("(outputs equal to the bit)"));
  for (DifferenceLine& line : run.differences) line.parameter = 1e-3;
  CHECK(differences_title(run) == "The models do not diverge");
  run.differences.clear();
  run.parted_at->step.reset();
  CHECK(differences_title(run) == "The layouts start as the same function");
  run.parted_at->step = 60;
  CHECK(differences_title(run) == "The layouts start as the same function and diverge at step 60");
  run.parted_at.reset();
  run.separate_vs_fused->tolerance.reset();
  CHECK(differences_title(run) == "Differences between the models");

  run.separate_vs_fused->forward = std::nan("");  // null in a file
  CHECK_THAT(findings(run).summary, Contains("outputs within an unknown number"));

  run = small_run();
  for (MetricsLine& line : run.metrics) line.step += line.model == "fused";
  CHECK_THAT(findings(run).summary, !Contains("lockstep"));
}

TEST_CASE("a plain training run has only the sections that its records fill") {
  ReportRecord run{{.title = "Letters to phonemes"}};
  for (int step = 1; step <= 300; step += 100) {
    const double loss = 4.0 / step + 0.2;
    run.metrics.push_back(
        {.step = step,
         .numbers = {{"loss", loss}, {"validation_loss", loss + 0.1}, {"per", loss / 5}}});
  }
  const RunFindings found = findings(run);
  CHECK(json_of(found).size() == 3);  // summary, loss, measures
  CHECK(found.loss->title == "The loss falls from 4.2 to 0.22");
  CHECK(found.measures[0]->title == "Phoneme error rate ends at 4.4 %");
  CHECK(found.summary ==
        "One model was trained for 201 steps. Validation loss ends at 0.320. Phoneme error rate "
        "ends at 4.4 %.");
}
