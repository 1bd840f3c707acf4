// The common part of all experiments: the registry, sizes, claims, both precisions in one record.
#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/lab.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

void hold_one_and_break_two(const LabOptions& options, Notebook& book) {
  book.table("A table", "caption", {"", "number"}, {{"a", options.width}});
  book.at_most("small", 1, 2);
  book.equal("equal", 3, 4);
  book.within("finite", std::nan(""), 0, 1);
  book.answer("It holds.");
}

Experiment breaking() {
  Experiment e = find_experiment("d2l");
  e.name = "breaking";
  e.run = hold_one_and_break_two;
  return e;
}

/// The record of a run as if made in the other precision.
LabRecord as_other(LabRecord record) {
  const std::string other = is_double ? "float" : "double";
  record.precisions = {other};
  record.seconds = {{other, 1}};
  for (LabClaim& claim : record.claims) {
    claim.runs = {{other, claim.runs.at(lab_test::precision)}};
  }
  return record;
}

LabRecord run_d2l() { return run_experiment(find_experiment("d2l"), {.width = 10, .heads = 5}); }

}  // namespace

TEST_CASE("every experiment has a unique name, a text, a question and admissible defaults") {
  std::vector<std::string> names;
  for (const Experiment& e : experiments()) {
    INFO(e.name);
    CHECK(std::find(names.begin(), names.end(), e.name) == names.end());
    names.push_back(e.name);
    const bool asked = std::string(e.group()) == "questions from forums and courses";
    CHECK(asked != e.asked_in.empty());
    CHECK(asked == (names.size() <= 7));  // asked questions come first
    CHECK_FALSE(e.question.empty());
    CHECK_FALSE(e.program.empty());
    CHECK_FALSE(e.computed.empty());
    CHECK_FALSE(e.formulas.empty());
    CHECK(std::count(e.question.begin(), e.question.end(), '?') == 1);  // one sentence
    CHECK(e.question.back() == '?');
    for (const std::string& formula : e.formulas) CHECK_NOTHROW(Formula(formula));
    const LabOptions options = completed(e, {});
    CHECK(options.width == e.defaults.width);
    CHECK(options.heads == e.defaults.heads);
  }
  CHECK(names.size() == 22);
}

TEST_CASE("the record of an experiment that nobody asks for says which group it is of") {
  CHECK(run_experiment(breaking(), {}).group == "questions from forums and courses");
  Experiment own = breaking();
  own.asked_in = "";
  const LabRecord record = run_experiment(own, {});
  CHECK(record.asked_in == "");
  CHECK(record.group == "questions about gradients and training");
}

TEST_CASE("names and sizes that do not exist are refused with a remedy") {
  CHECK_THROWS_WITH(find_experiment("hed-slices"),
                    "no experiment \"hed-slices\" (did you mean head-slices?)");
  CHECK_THROWS_WITH(find_experiment("xyzzy"), "no experiment \"xyzzy\" (lab list shows all)");
  const Experiment& e = find_experiment("head-slices");
  CHECK_THROWS_WITH(completed(e, {.heads = 5}),
                    "head-slices: heads 5 must divide width 768 (try 4 or 6)");
  CHECK_THROWS_WITH(completed(e, {.width = 5000}), Contains("width 5000 is not in 1 to 1024"));
  CHECK_THROWS_AS(completed(e, {.heads = 65}), UsageError);
  CHECK_THROWS_WITH(completed(find_experiment("head-count"), {.heads = 1}),
                    Contains("heads 1 is not in 2 to 32"));
  CHECK_THROWS_WITH(completed(find_experiment("shared-head"), {.width = 16, .heads = 8}),
                    Contains("leaves 2 features a head, needed are 4"));
}

TEST_CASE("the latest block that is called the figure is the only one") {
  Notebook book;
  CHECK_THROWS_AS(book.figure(), UsageError);
  for (const char* title : {"first", "second", "third"}) {
    book.table(title, "", {"", "number"}, {{"a", 1}});
    if (std::string(title) != "third") book.figure();
  }
  LabRecord record;
  book.write_into(record);
  const auto figure = [&](std::size_t i) { return std::get<Table>(record.blocks[i]).figure; };
  CHECK_FALSE(figure(0));
  CHECK(figure(1));
  CHECK_FALSE(figure(2));
}

TEST_CASE("only a table is folded, and it keeps its rows in the record") {
  Notebook book;
  CHECK_THROWS_AS(book.folded(), UsageError);
  book.table("shown", "", {"", "number"}, {{"a", 1}});
  book.table("values", "", {"", "number"}, {{"a", 1}, {"b", 2}});
  book.folded();
  LabRecord record;
  book.write_into(record);
  CHECK(std::get<Table>(record.blocks[0]).shown.empty());
  CHECK(std::get<Table>(record.blocks[1]).shown == "folded");
  CHECK(json_of(record)["blocks"][1]["rows"].size() == 2);
  CHECK_THAT(lab_text(record, {.columns = 80}),
             Catch::Contains("2 rows, in the JSON and on the page"));
  book.chart("chart", "", "x", "y", false, {});
  CHECK_THROWS_AS(book.folded(), UsageError);
}

TEST_CASE("a claim that does not hold is reported with its number, and there is no answer") {
  const LabRecord record = run_experiment(breaking(), {});
  const std::vector<std::string> failed = failed_claims(record);
  REQUIRE(failed.size() == 2);
  CHECK(failed[0] == std::string("\"equal\": 3 in ") + lab_test::precision + ", must be == 4");
  CHECK_THAT(failed[1], Contains("not a number") && Contains("must be in [0, 1]"));
  CHECK_THAT(words(record.answer),
             Contains("does not support an answer") && !Contains("It holds."));
  // JSON, in which NaN becomes null, gives the same result.
  CHECK(lab_test::failed_claims_of(Record::parse(json_of(record).dump())) == failed);
}

TEST_CASE("a claim of a precision that did not run is refused") {
  LabRecord record = run_experiment(breaking(), {});
  check(record);
  LabClaim& claim = record.claims.front();
  claim.runs["half"] = claim.runs.at(lab_test::precision);
  CHECK_THROWS_WITH(check(record), Contains("names a precision \"half\" that did not run"));
}

TEST_CASE("a claim that fails in both precisions is one line with both numbers") {
  LabRecord record;
  record.precisions = {"double", "float"};
  LabClaim claim{.text = "gradient", .relation = "<=", .runs = {}};
  claim.runs["double"] = {.measured = 1e-4, .bound = {1e-6}, .holds = false};
  claim.runs["float"] = {.measured = 3e-6, .bound = {1e-6}, .holds = false};
  record.claims = {claim};
  CHECK(failed_claims(record) ==
        std::vector<std::string>{"\"gradient\": 1.0e-4 in double, must be <= 1.0e-6; "
                                 "3.0e-6 in float, must be <= 1.0e-6"});
  record.claims[0].runs["double"].holds = true;
  CHECK(failed_claims(record) ==
        std::vector<std::string>{"\"gradient\": 3.0e-6 in float, must be <= 1.0e-6"});
}

TEST_CASE("a record is the same after it was written and read") {
  for (const char* name : {"d2l", "single-vs-multi"}) {  // all kinds of blocks
    const LabRecord record =
        run_experiment(find_experiment(name), {.width = 16, .heads = 4, .seed = 2});
    const Record json = json_of(record);
    const auto again = struct_of<LabRecord>(Record::parse(json.dump()), "records.json");
    check(again);
    CHECK(json_of(again) == json);
    CHECK(words(again.answer) == words(record.answer));
  }
}

TEST_CASE("both precisions become one record: what is equal once, what differs side by side") {
  const LabRecord own = run_d2l();
  LabRecord other = as_other(own);
  const LabRecord same = merged_records(own, other);
  CHECK(same.precisions.size() == 2);
  CHECK(json_of(same.blocks) == json_of(own.blocks));
  CHECK(json_of(same.answer) == json_of(own.answer));
  CHECK(same.claims.size() == own.claims.size());

  other.claims[0].runs.begin()->second.holds = false;
  auto& table = std::get<Table>(other.blocks.back());
  table.rows[0][1] = 5;
  for (LabBlock& block : other.blocks) {
    if (auto* maps = std::get_if<LabMaps>(&block)) maps->maps[0].rows[0][0] = 0.9;
  }
  const LabRecord both = merged_records(own, other);
  CHECK(failed_claims(both).size() == 1);
  LabRecord failing = own;
  failing.claims[0].runs.begin()->second.holds = false;
  CHECK(failed_claims(merged_records(failing, other)).size() == 1);  // one claim, not two
  const auto& merged_table = std::get<Table>(both.blocks.back());
  CHECK(merged_table.columns.size() == table.columns.size() + 1);
  CHECK(merged_table.columns[1] == std::string("L1 (") + lab_test::precision + ")");
  CHECK(words(merged_table.rows[0][2]) == "5");
  const Record json = json_of(both), of_own = json_of(own);
  CHECK(lab_test::block_with(json, "head 1")["maps"].size() ==
        lab_test::block_with(of_own, "head 1")["maps"].size() + 1);

  other.options.seed = 2;
  CHECK_THROWS_AS(merged_records(own, other), UsageError);
}

TEST_CASE("blocks of different forms are kept under both precisions' names") {
  const LabRecord own = run_d2l();
  LabRecord other = as_other(own);
  std::get<Table>(other.blocks.back()).rows.pop_back();
  const LabRecord both = merged_records(own, other);
  CHECK(both.blocks.size() == 2 * own.blocks.size());
  CHECK_THAT(words(std::get<Table>(both.blocks.front()).title),
             Contains(std::string(" (") + lab_test::precision + ")"));
}

TEST_CASE("small values differ on a logarithmic axis, and NaN always differs") {
  using Points = std::vector<std::pair<double, double>>;
  const LabRecord own = run_d2l();
  const auto merged_series = [&](bool log, const Points& first, const Points& second) {
    const auto record = [&](const Points& points) {
      LabRecord result = own;
      Chart chart;
      chart.title = "A chart";
      chart.log = log;
      chart.series = {{"line", points}};
      result.blocks = {chart};
      return result;
    };
    return std::get<Chart>(merged_records(record(first), as_other(record(second))).blocks[0])
        .series;
  };
  const Points zero{{1, 0}}, tiny{{1, 1e-16}}, small{{1, 5e-7}}, none{{1, std::nan("")}};
  CHECK(merged_series(true, tiny, tiny).size() == 1);
  CHECK(merged_series(true, zero, zero).size() == 1);
  CHECK(merged_series(true, tiny, small).size() == 2);
  CHECK(merged_series(true, zero, tiny).size() == 2);
  CHECK(merged_series(false, tiny, small).size() == 1);
  CHECK(merged_series(false, none, small).size() == 2);
}
