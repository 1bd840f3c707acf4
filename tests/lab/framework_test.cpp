// What all experiments share: the registry, sizes, claims, both precisions in one
// record.
#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

void hold_one_and_break_two(const LabOptions& options, Notebook& book) {
  book.table("A table", "look", {"", "number"}, {{"a", options.width}});
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

/// The record of a run as the other precision would have it.
Record as_other(Record record) {
  const std::string other = is_double ? "float" : "double";
  record["precisions"] = {other};
  for (const char* key : {"seconds", "answer"}) {
    const Record value = record[key][lab_test::precision];
    record[key] = {{other, value}};
  }
  for (Record& claim : record["claims"]) {
    const Record value = claim[lab_test::precision];
    claim.erase(lab_test::precision);
    claim[other] = value;
  }
  return record;
}

}  // namespace

TEST_CASE("every experiment has a name of its own, a text, a question and admissible defaults") {
  std::vector<std::string> names;
  for (const Experiment& e : experiments()) {
    INFO(e.name);
    CHECK(std::find(names.begin(), names.end(), e.name) == names.end());
    names.push_back(e.name);
    const bool asked = std::string(e.group()) == "asked on forums and in courses";
    CHECK(asked != e.asked_in.empty());
    CHECK(asked == (names.size() <= 6));  // what is asked comes first
    CHECK_FALSE(e.question.empty());
    CHECK_FALSE(e.computed.empty());
    CHECK_FALSE(e.formulas.empty());
    const LabOptions options = completed(e, {});
    CHECK(options.width == e.defaults.width);
    CHECK(options.heads == e.defaults.heads);
  }
  CHECK(names.size() >= 6);
}

TEST_CASE("the record of an experiment that nobody asks for says which group it is of") {
  CHECK(run_experiment(breaking(), {})["group"] == "asked on forums and in courses");
  Experiment own = breaking();
  own.asked_in = "";
  const Record record = run_experiment(own, {});
  CHECK(record["asked_in"] == "");
  CHECK(record["group"] == "the gradient laboratory");
}

TEST_CASE("names and sizes that do not exist are refused with a remedy") {
  CHECK_THROWS_WITH(find_experiment("hed-slices"),
                    "no experiment \"hed-slices\" (did you mean head-slices?)");
  CHECK_THROWS_WITH(find_experiment("xyzzy"), "no experiment \"xyzzy\" (lab list shows all)");
  const Experiment& e = find_experiment("head-slices");
  CHECK_THROWS_WITH(completed(e, {.heads = 5}),
                    "head-slices: --heads 5 must divide --width 768 (try 4 or 6)");
  CHECK_THROWS_WITH(completed(e, {.width = 5000}), Contains("--width 5000 is not in 1 to 1024"));
  CHECK_THROWS_AS(completed(e, {.heads = 65}), UsageError);
  CHECK_THROWS_WITH(completed(find_experiment("head-count"), {.heads = 1}),
                    Contains("--heads 1 is not in 2 to 32"));
  CHECK_THROWS_WITH(completed(find_experiment("shared-head"), {.width = 16, .heads = 8}),
                    Contains("leaves 2 features a head, needed are 4"));
}

TEST_CASE("a claim that does not hold is reported with its number, and there is no answer") {
  const Record record = run_experiment(breaking(), {});
  const std::vector<std::string> failed = failed_claims(record);
  REQUIRE(failed.size() == 2);
  CHECK(failed[0] == std::string("\"equal\" is 3 in ") + lab_test::precision + ", must be == 4");
  CHECK_THAT(failed[1], Contains("not a number") && Contains("must be in [0, 1]"));
  CHECK_THAT(record["answer"][lab_test::precision].get<std::string>(),
             Contains("does not support an answer") && !Contains("It holds."));
  // What JSON makes of it (NaN becomes null) says the same.
  CHECK(failed_claims(Record::parse(record.dump())) == failed);
}

TEST_CASE("both precisions become one record: what is equal once, what differs side by side") {
  const Record own = lab_test::run("d2l", 10, 5);
  Record other = as_other(own);
  Record same = merged_records(own, other);
  CHECK(same["precisions"].size() == 2);
  CHECK(same["blocks"] == own["blocks"]);
  CHECK(same["claims"].size() == own["claims"].size());

  other["claims"][0][is_double ? "float" : "double"]["holds"] = false;
  Record& table = other["blocks"].back();
  table["rows"][0][1] = 5;
  for (Record& block : other["blocks"]) {
    if (block["type"] == "maps") block["maps"][0]["rows"][0][0] = 0.9;
  }
  const Record both = merged_records(own, other);
  CHECK(failed_claims(both).size() == 1);
  const Record& merged_table = both["blocks"].back();
  CHECK(merged_table["columns"].size() == table["columns"].size() + 1);
  CHECK(merged_table["columns"][1] == std::string("L1 (") + lab_test::precision + ")");
  CHECK(merged_table["rows"][0][2] == 5);
  const Record& maps = lab_test::block_with(both, "head 1");
  CHECK(maps["maps"].size() == lab_test::block_with(own, "head 1")["maps"].size() + 1);

  other["options"]["seed"] = 2;
  CHECK_THROWS_AS(merged_records(own, other), UsageError);
}

TEST_CASE("small numbers are told apart on a logarithmic axis, and what is no number always") {
  const auto merged_series = [](bool log, const Record& first, const Record& second) {
    const auto record = [&](const Record& points) {
      Record own = lab_test::run("d2l", 10, 5);
      own["blocks"] = Record::array({{{"type", "chart"},
                                      {"title", "A chart"},
                                      {"look", "Look."},
                                      {"log", log},
                                      {"series", {{{"name", "line"}, {"points", points}}}}}});
      return own;
    };
    return merged_records(record(first), as_other(record(second)))["blocks"][0]["series"];
  };
  const Record zero = {{1, 0}}, tiny = {{1, 1e-16}}, small = {{1, 5e-7}}, none = {{1, nullptr}};
  CHECK(merged_series(true, tiny, tiny).size() == 1);
  CHECK(merged_series(true, zero, zero).size() == 1);
  CHECK(merged_series(true, tiny, small).size() == 2);
  CHECK(merged_series(true, zero, tiny).size() == 2);
  CHECK(merged_series(false, tiny, small).size() == 1);
  CHECK(merged_series(false, none, small).size() == 2);
  CHECK(merged_series(false, {{1, std::nan("")}}, small).size() == 2);
}

TEST_CASE("what a precision says otherwise stands behind the other's words") {
  CHECK(joined_texts("a b", "float", "a b") == "a b");
  CHECK(joined_texts("True in 55 of 100 draws", "float", "True in 57 of 100 draws") ==
        "True in 55 (float: 57) of 100 draws");
  CHECK(joined_texts("ends in 1.", "float", "ends in 2.") == "ends in 1 (float: 2).");
  CHECK(joined_texts("up to 1, or 3,", "float", "up to 2, or 4;") ==
        "up to 1 (float: 2), or 3, (float: 4;)");
  CHECK(joined_texts("by 1.8 [1.55, 2.05].", "float", "by 1.8 [1.54, 2.05].") ==
        "by 1.8 [1.55, 2.05] (float: 1.8 [1.54, 2.05]).");
  CHECK(joined_texts("from 1 [0, 2] on", "float", "from 1 [0, 2] on") == "from 1 [0, 2] on");
  CHECK(joined_texts("[1, 2] to 3", "float", "[1, 2] to 4") == "[1, 2] to 3 (float: 4)");
  CHECK(joined_texts("Yes.", "float", "Not quite.") == "Yes. (In float: Not quite.)");
}

TEST_CASE("numbers are written as people read them") {
  CHECK(figure_text(1050624) == "1,050,624");
  CHECK(figure_text(0.2519) == "0.252");
  CHECK(figure_text(3.14e-16) == "3.1e-16");
  CHECK(figure_text(1408.7) == "1,409");
  CHECK(figure_text(-1234567) == "-1,234,567");
  CHECK(figure_text({0.1, 0.4}) == "[0.1, 0.4]");
  CHECK(figure_text(nullptr) == "not a number");
  CHECK(figure_text("True") == "True");
}
