// What the report says about a run follows from its numbers.
#include "headroom/base/error.hpp"
#include "headroom/report/report.hpp"
#include "headroom/train/measures.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {
std::string title(const Record& run, const char* section) {
  return findings(run)[section]["title"].get<std::string>();
}
std::string measure_title(const Record& run) {
  return findings(run)["measures"][0]["title"].get<std::string>();
}
}  // namespace

TEST_CASE("a run that learned, parted and lost heads says so in every section") {
  const Record run = small_run();
  CHECK(title(run, "loss") == "The two losses fall as one");
  CHECK(measure_title(run) == "Both models reach an exact match of 90.0 % by step 90");
  CHECK(title(run, "differences") == "Same function at the start, paths apart from step 60");
  CHECK(title(run, "heads") ==
        "Cross-attention keeps 4 of 4 heads, encoder self-attention only 1 of 4");
  CHECK(title(run, "before_after") == "A step is 1.25 times faster, exact match 0.5 points lower");
  CHECK(title(run, "telemetry") ==
        "Heads focus: their mean entropy falls from 0.90 to 0.52 of the largest");
  CHECK_THAT(findings(run)["telemetry"]["look"].get<std::string>(),
             Contains("Measured on the fused model.") &&
                 Contains("how much the loss would change if the head's output were scaled"));
  CHECK(title(run, "maps") == "Head cross 0.0 points: its largest weight is 0.85 on average");
  CHECK(title(run, "importance") ==
        "Both layouts agree on which heads matter (rank correlation 1.00)");
  CHECK(findings(run)["summary"] ==
        "Two models with different layouts started as the same function (outputs within 3.6e-7) "
        "and trained in lockstep for 200 steps. Of unseen examples the weaker one wrote 99.4 % "
        "exactly; with 6 of 12 heads removed, 95 to 45 steps before the end, still 98.9 %. A "
        "training step of the fused one went from 38.0 to 30.4 ms.");
}

TEST_CASE("numbers that support no finding give no clear pattern") {
  Record run = small_run();
  for (Record& line : run["metrics"]) line["loss"] = 3.0;
  CHECK_THAT(title(run, "loss"), StartsWith("No clear pattern"));

  for (Record& head : run["heads"]) {
    head["removed_at"] = head["head"] == 0 ? Record(100) : Record(nullptr);
  }
  CHECK(title(run, "heads") == "No clear pattern: 6 heads went, and no kind lost clearly more");

  run["before_after"][1]["step_ms"] = 37.5;
  CHECK_THAT(title(run, "before_after"), StartsWith("No clear gain"));

  // The heads that lived to the end are those that count.
  Record& last = run["telemetry"].back();
  for (Record& entropy : last["entropy"]) entropy = 0.86;
  CHECK(title(run, "telemetry") ==
        "No clear pattern: the heads' mean entropy stays near 0.86 of the largest");

  for (Record& row : run["examples"][0]["maps"][1]["rows"]) row = {0.4, 0.3, 0.3};
  CHECK_THAT(title(run, "maps"), StartsWith("No clear pattern"));

  for (Record& head : run["heads"]) {
    const double value = head["importance"]["separate"].get<double>();
    head["importance"]["fused"] = -value;
  }
  CHECK(title(run, "importance") ==
        "No clear pattern: the layouts rank their heads differently (rank correlation -1.00)");
}

TEST_CASE("a middling correlation is called rough, and what would be a clear one is said") {
  Record run = small_run();
  REQUIRE(run["heads"].size() == 12);
  // Importance rises with the head's place, `other` falls over the first `turned` and rises then.
  const auto titled = [&](const char* other, int turned) {
    for (int i = 0; i < 12; ++i) {
      Record& head = run["heads"][static_cast<std::size_t>(i)];
      const int value = i < turned ? turned - 1 - i : i;
      if (std::string(other) == "cost") {
        head["importance"] = i;
        head["cost"] = value;
      } else {
        head["importance"] = {{"separate", i}, {"fused", value}};
      }
    }
    return title(run, "importance");
  };
  // 1 - 6 (sum of squared differences) / (12 * 143); by chance 2 / sqrt(12) = 0.58 is reached.
  CHECK(titled("cost", 1) == "Importance predicts what removing costs (rank correlation 1.00)");
  CHECK(titled("cost", 6) == "Importance predicts what removing costs (rank correlation 0.76)");
  CHECK(titled("cost", 7) ==
        "Importance predicts only roughly what removing costs (rank correlation 0.61)");
  CHECK_THAT(findings(run)["importance"]["look"].get<std::string>(),
             EndsWith("A rank correlation from 0.7 on would be a clear one."));
  CHECK(titled("cost", 8) ==
        "No clear pattern: importance hardly predicts cost (rank correlation 0.41)");
  for (Record& head : run["heads"]) head.erase("cost");
  CHECK(titled("fused", 7) ==
        "The layouts agree only roughly on which heads matter (rank correlation 0.61)");
}

TEST_CASE("findings follow the numbers to the other side of their thresholds") {
  Record run = small_run();
  run["separate_vs_fused"]["forward"] = 1e-3;
  CHECK(title(run, "differences") == "The layouts did not start as the same function");
  CHECK_THAT(findings(run)["summary"].get<std::string>(), Contains("did not"));

  run["separate_vs_fused"]["forward"] = 0.0;
  CHECK_THAT(findings(run)["summary"].get<std::string>(), Contains("(outputs equal to the bit)"));

  run = small_run();
  run["parted_at"]["step"] = nullptr;
  CHECK(title(run, "differences") == "The two layouts never parted");

  run = small_run();
  for (Record& entropy : run["telemetry"].back()["entropy"]) entropy = 0.96;
  CHECK(title(run, "telemetry") ==
        "Heads spread: their mean entropy rises from 0.90 to 0.96 of the largest");
  for (Record& entropy : run["telemetry"].front()["entropy"]) entropy = nullptr;
  CHECK(title(run, "telemetry") == "How every head fared");

  run = small_run();
  run["before_after"][1]["step_ms"] = 76.0;
  CHECK_THAT(title(run, "before_after"), StartsWith("A step is 2.00 times slower"));

  run = small_run();
  for (Record& line : run["metrics"]) {
    if (line["model"] == "fused") line["exact_match"] = 0.5;
  }
  CHECK(measure_title(run) == "Exact match ends at 50.0 %, short of the goal");

  run = small_run();
  for (Record& head : run["heads"]) {
    head["removed_at"] = head["kind"] == "encoder" ? Record(100) : Record(nullptr);
  }
  CHECK(title(run, "heads") ==
        "Cross-attention keeps 4 of 4 heads, encoder self-attention none of 4");
  for (Record& head : run["heads"]) head["removed_at"] = nullptr;
  CHECK(title(run, "heads") == "All 12 heads are alive");

  run = small_run();
  for (Record& head : run["heads"]) head["cost"] = head["importance"]["fused"];
  run["cost_name"] = "the rise of the loss";
  CHECK(title(run, "importance") ==
        "Importance predicts what removing costs (rank correlation 1.00)");
  CHECK_THAT(findings(run)["importance"]["look"].get<std::string>(),
             Contains("The cost of removing a head is the rise of the loss. The layouts rank their "
                      "heads with a correlation of 1.00."));

  run = small_run();
  run["before_after"][1]["exact_match"]["separate"] = 0.12;
  CHECK_THAT(findings(run)["summary"].get<std::string>(),
             Contains("95 to 45 steps before the end, only 12.0 %."));
  run["before_after"][0]["exact_match"] = 1.0;
  run["before_after"][1]["exact_match"] = {{"separate", 0.96}, {"fused", 0.96}};
  CHECK_THAT(findings(run)["summary"].get<std::string>(),
             Contains("both wrote 100.0 % exactly; with 6 of 12 heads removed, "
                      "95 to 45 steps before the end, still 96.0 %."));
}

TEST_CASE("heads that were removed at once, or when nobody knows, are spoken of as such") {
  Record run = small_run();
  const auto summary = [&] { return findings(run)["summary"].get<std::string>(); };
  for (Record& head : run["heads"]) {
    if (!head["removed_at"].is_null()) head["removed_at"] = 150;
  }
  CHECK_THAT(summary(), Contains("with 6 of 12 heads removed, 50 steps before the end, still"));
  run["before_after"][1]["exact_match"] = 1.0;
  CHECK_THAT(summary(), Contains("50 steps before the end, then 100.0 %."));
  run["heads"][0]["removed_at"] = 1000;  // after the run
  CHECK_THAT(summary(), Contains("with 6 of 12 heads removed, then"));
}

TEST_CASE("where the training loss has label smoothing in it, the page says so") {
  Record run = small_run();
  const auto look = [&] { return findings(run)["loss"]["look"].get<std::string>(); };
  CHECK_THAT(look(), !Contains("smoothing"));
  run["config"]["training"] = {{"label_smoothing", 0.1}};
  CHECK_THAT(look(), Contains("The training loss has label smoothing of 0.1 in it"));
  run["config"]["training"] = "unknown";
  CHECK_THAT(look(), !Contains("smoothing"));
}

TEST_CASE("a loss that did not fall is called what it is, whichever model's it is") {
  struct Case {
    std::vector<double> separate, fused;
    const char* title;
  };
  const std::vector<Case> cases = {
      {{3, 1}, {3, 1}, "The two losses fall as one"},
      {{3, 1}, {3, 2}, "Both models learn, each on its own path"},
      {{3, 1}, {3, 9}, "The loss of the fused model rose from 3 to 9"},
      {{3, 9}, {3, 1}, "The loss of the separate model rose from 3 to 9"},
      {{3, 1}, {3, 2.9}, "No clear pattern: the loss of the fused model hardly moved"},
      {{3, 3.1}, {3, 9}, "The loss of the fused model rose from 3 to 9"},
      {{3, 1}, {3}, "The loss of the fused model was measured once: 3"},
      {{3, 1}, {}, "The loss falls from 3 to 1"},
      {{3, 3.1}, {}, "No clear pattern: the loss hardly moved"},
      {{3, 4}, {}, "The loss rose from 3 to 4"},
      {{3}, {}, "The loss was measured once: 3"},
  };
  for (const Case& c : cases) {
    Record run = {{"title", "losses"}, {"metrics", Record::array()}};
    const auto add = [&](const char* model, const std::vector<double>& losses) {
      for (std::size_t i = 0; i < losses.size(); ++i) {
        run["metrics"].push_back({{"step", i}, {"model", model}, {"loss", losses[i]}});
      }
    };
    add("separate", c.separate);
    add("fused", c.fused);
    CHECK(title(run, "loss") == c.title);
  }
}

TEST_CASE("a model with one kind of attention is told by its layers") {
  Record run = small_run();
  for (Record& head : run["heads"]) head["kind"] = "encoder";
  CHECK(title(run, "heads") == "6 of 12 heads were removed");
  CHECK_THAT(findings(run)["heads"]["look"].get<std::string>(),
             Contains(" Layer 0 lost 4, layer 1 lost 2."));
}

TEST_CASE("what any task measures has a finding and a curve") {
  for (const Measure& measure : quality_measures) {
    Record run = {{"title", "measured"}, {"metrics", Record::array()}};
    for (int step = 0; step < 3; ++step) {
      run["metrics"].push_back({{"step", step}, {"loss", 2.0 - step / 2.0}});
      run["metrics"].back()[measure.key] = 0.25 * step;
    }
    INFO(measure.key);
    CHECK_THAT(measure_title(run), Contains(" ends at 50.0 %"));
    CHECK_THAT(findings(run)["summary"].get<std::string>(), Contains(" ends at 50.0 %."));
  }
}

TEST_CASE("a plain training run has only the sections that its records fill") {
  Record run = {{"title", "Letters to phonemes"}};
  for (int step = 1; step <= 300; step += 100) {
    const double loss = 4.0 / step + 0.2;
    run["metrics"].push_back(
        {{"step", step}, {"loss", loss}, {"validation_loss", loss + 0.1}, {"per", loss / 5}});
  }
  const Record found = findings(run);
  CHECK(found.size() == 3);  // summary, loss, measure
  CHECK(found["loss"]["title"] == "The loss falls from 4.2 to 0.22");
  CHECK(found["measures"][0]["title"] == "Phoneme error rate ends at 4.4 %");
  CHECK(found["summary"] ==
        "One model trained for 201 steps. Validation loss ends at 0.320. Phoneme error "
        "rate ends at 4.4 %.");

  run["metrics"][2]["validation_loss"] = 2.0;
  CHECK(findings(run)["loss"]["title"] == "Validation loss turned up after step 101");
}

TEST_CASE("records that are not of the schema are refused by name") {
  struct Case {
    const char* pointer;  // what is changed
    Record to;
    const char* text;
  };
  const std::vector<Case> cases = {
      {"/title", 3, "report: run.title must be a text"},
      {"/metrics", "x", "report: run.metrics must be a list"},
      {"/metrics/0/step", "x", "report: metrics[0].step must be a whole number"},
      {"/heads/3/layer", 0.5, "report: heads[3].layer must be a whole number"},
      {"/heads/3/kind", "side",
       "report: heads[3].kind \"side\" is none of encoder, decoder, cross"},
      {"/heads/3/importance", "x",
       "report: heads[3].importance must be a number or an object of numbers by model"},
      {"/examples/0/source", {1, 2}, "report: examples[0].source must be a list of texts"},
      {"/examples/0/maps/1/rows", Record::array({{0.5, 0.5, 0.0}}),
       "report: examples[0].maps[1].rows has 1 rows for 2 tokens"},
      {"/examples/0/maps/1/rows/0",
       {0.5, 0.5},
       "report: examples[0].maps[1].rows must hold 3 numbers each"},
      {"/telemetry/2/step", nullptr, "report: telemetry[2].step must be a whole number"},
      {"/telemetry/2/heads/0", "side 0.1",
       "report: telemetry[2].heads.kind \"side\" is none of encoder, decoder, cross"},
      {"/telemetry/2/heads/0", "cross 0.",
       "report: telemetry[2].heads \"cross 0.\" is no head (\"cross 0.3\")"},
      {"/telemetry/2/entropy",
       {0.5},
       "report: telemetry[2].entropy must hold a number for each of the 12 heads"},
      {"/telemetry/2/entropy/3", "x",
       "report: telemetry[2].entropy must hold a number for each of the 12 heads"},
      {"/telemetry/2/update_ratio/key", nullptr,
       "report: telemetry[2].update_ratio.key must be a list"},
      {"/telemetry/2/gradient_norm", Record::object(),
       "report: telemetry[2].gradient_norm.query is missing"},
      {"/telemetry/2/model", "separate", "report: telemetry[2].model is another one than before"},
      {"/parted_at/step", "x", "report: parted_at.step must be a whole number or null"},
      {"/config", 1, "report: run.config must be an object"},
  };
  for (const Case& c : cases) {
    Record run = small_run();
    run[Record::json_pointer(c.pointer)] = c.to;
    INFO(c.pointer);
    CHECK_THROWS_WITH(findings(run), c.text);
    CHECK_THROWS_AS(findings(run), DataError);
  }
  CHECK_THROWS_WITH(findings(Record::object()), "report: run.title is missing");
}
