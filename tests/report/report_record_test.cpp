// The record of a run as JSON and back, and JSON that is rejected.
#include "headroom_lab/report/report_record.hpp"

#include <cmath>

#include "headroom/io/json.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;

TEST_CASE("a run's record comes back from JSON as it was") {
  const ReportRecord run = small_run();
  const std::string text = json_of(run).dump();
  CHECK(report_record(parse_json(text, "a"), "a") == run);
  ReportRecord no_task = run;
  no_task.task = "";
  CHECK_FALSE(json_of(no_task).contains("task"));
}

TEST_CASE("numbers are of one model, of all, or missing") {
  const PerModel none, one(0.5), two({{"separate", 1}, {"fused", 3}});
  CHECK_FALSE(none.given());
  CHECK_FALSE(none.of("fused").has_value());
  CHECK_FALSE(none.mean().has_value());
  CHECK_FALSE(none.range().has_value());
  CHECK(one.of("fused") == 0.5);
  CHECK(one.range() == std::pair(0.5, 0.5));
  CHECK_FALSE(one.by_model());
  CHECK(two.of("fused") == 3);
  CHECK_FALSE(two.of("shared").has_value());
  CHECK(two.mean() == 2);
  CHECK(two.range() == std::pair(1.0, 3.0));
  const PerModel hole({{"separate", std::nan("")}, {"fused", 3}});
  CHECK(hole.mean() == 3);
  CHECK_FALSE(hole.of("separate").has_value());
  CHECK(json_of(hole).dump() == R"({"separate":null,"fused":3.0})");
}

TEST_CASE("records of earlier runs are read: null for what is unknown, any numbers in metrics") {
  const ReportRecord run = report_record(parse_json(R"({"title": "t", "seed": 3,
      "metrics": [{"step": 1, "model": "fused", "loss": 2.5, "tokens": 12, "wer": null}],
      "heads": [{"kind": "cross", "layer": 0, "head": 1, "importance": {"fused": 0.5},
                 "cost": null, "removed_at": null}]})",
                                                    "old"),
                                         "old");
  CHECK(run.metrics[0].number("loss") == 2.5);
  CHECK(run.metrics[0].number("tokens") == 12);
  CHECK_FALSE(run.metrics[0].number("wer").has_value());
  CHECK_FALSE(run.heads[0].cost.has_value());
  CHECK_FALSE(run.heads[0].removed_at.has_value());
}

TEST_CASE("records of another form are refused by file, field and what was expected") {
  struct Case {
    const char* pointer;  // what is changed
    Record to;
    const char* text;
  };
  const std::vector<Case> cases = {
      {"/title", 3, "r: title must be a text, not 3"},
      {"/metrics", "x", "r: metrics must be a list, not \"x\""},
      {"/metrics/0/step", "x", "r: metrics[0].step must be a whole number, not \"x\""},
      {"/metrics/0/loss", "x", "r: metrics[0].loss must be a number, not \"x\""},
      {"/measures/0/better", "more",
       "r: measures[0].better must be one of higher, lower, not \"more\""},
      {"/heads/3/layer", 0.5, "r: heads[3].layer must be a whole number, not 0.5"},
      {"/heads/3/kind", "side",
       "r: heads[3].kind must be one of encoder, decoder, cross, not \"side\""},
      {"/heads/3/importance", "x",
       "r: heads[3].importance must be a number or an object of numbers by model, not \"x\""},
      {"/heads/3/importance", {{"", 1}}, "r: heads[3].importance: a model without a name"},
      {"/heads/3/importance",
       {{"fused", "x"}},
       "r: heads[3].importance.fused must be a number, not \"x\""},
      {"/heads/3/colour", 1,
       "r: heads[3]: \"colour\" is not a field (known: cost, head, importance, kind, layer, "
       "removed_at)"},
      {"/examples/0/source", {1, 2}, "r: examples[0].source[0] must be a text, not 1"},
      {"/examples/0/maps/1/rows", Record::array({{0.5, 0.5, 0.0}}),
       "r: examples[0].maps[1].rows has 1 rows for 2 tokens"},
      {"/examples/0/maps/1/rows/0",
       {0.5, 0.5},
       "r: examples[0].maps[1].rows[0] has 2 weights for 3 tokens"},
      {"/telemetry/2/step", nullptr, "r: telemetry[2].step must be a whole number, not null"},
      {"/telemetry/2/record", "tails",
       "r: telemetry[2].record must be one of heads, lives, not \"tails\""},
      {"/telemetry/2/entropy", {0.5}, "r: telemetry[2].entropy has 1 values for 12 heads"},
      {"/telemetry/2/entropy/3", "x", "r: telemetry[2].entropy[3] must be a number, not \"x\""},
      {"/telemetry/2/update_ratio/key", nullptr,
       "r: telemetry[2].update_ratio.key must be a list, not null"},
      {"/telemetry/2/gradient_norm", Record::object(),
       "r: telemetry[2].gradient_norm: \"query\" is missing"},
      {"/telemetry/2/model", "separate",
       "r: telemetry[2].model must be \"fused\" as in telemetry[0], not \"separate\""},
      {"/parted_at/step", "x", "r: parted_at.step must be a whole number, not \"x\""},
      {"/config", 1, "r: config must be an object"},
  };
  for (const Case& c : cases) {
    Record run = json_of(small_run());
    run[Record::json_pointer(c.pointer)] = c.to;
    INFO(c.pointer);
    CHECK_THROWS_WITH(report_record(run, "r"), c.text);
    CHECK_THROWS_AS(report_record(run, "r"), DataError);
  }
  CHECK_THROWS_WITH(report_record(Record::object(), "r"), "r: \"title\" is missing");
  for (const char* head : {"side 0.1", "cross 0.", "cross .1", "cross 0.1 ", "cross -1.0",
                           "cross 0", "cross 99999999999999999999.0"}) {
    Record run = json_of(small_run());
    run["telemetry"][2]["heads"][0] = head;
    CHECK_THROWS_WITH(report_record(run, "r"),
                      "r: telemetry[2].heads[0] must be the name of a head such as \"cross 0.3\", "
                      "not \"" +
                          std::string(head) + "\"");
  }
}
