// Tables and charts in a terminal and as comma-separated values.
#include "headroom_lab/blocks/table.hpp"

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

TerminalStyle of_columns(int columns) {
  return {.unicode = false, .colour = false, .live = false, .columns = columns};
}

}  // namespace

TEST_CASE("a table in a terminal") {
  const Table table{.columns = {"", "exact", "step"},
                    .rows = {{"before", "99.6 %", 38.25}, {"after", Interval{9, 8, 10}, {}}}};
  CHECK(table_text(table, of_columns(80), 1) ==
        "              exact   step\n"
        " before      99.6 %   38.2\n"
        " after    9 [8, 10]\n");
  CHECK_THROWS_AS(table_text({.columns = {"a"}, .rows = {{1, 2}}}, of_columns(80)), ShapeError);
  CHECK_THROWS_AS(csv_text({.columns = {"a"}, .rows = {{1, 2}}}), ShapeError);
  const Table shapes{
      .type = "shapes", .columns = {"stage", "shape", "how"}, .rows = {{"x", "[12, 8]", "input"}}};
  CHECK(table_text(shapes, of_columns(80)) ==
        "stage   shape     how\n"
        "x       [12, 8]   input\n");
}

TEST_CASE("a table that does not fit closes its gaps, then continues below, then is a list") {
  const Table table{.columns = {"", "a", "b", "c"}, .rows = {{"x", "1", 22, "3"}}};
  const auto text = [&](int columns) { return table_text(table, of_columns(columns), 1); };
  const std::string roomy = "     a    b   c\n x   1   22   3\n";
  CHECK(text(15) == roomy);
  CHECK(text(80) == roomy);
  CHECK(text(14) == "    a   b  c\n x  1  22  3\n");
  CHECK(text(9) == "   a  b c\n x 1 22 3\n");
  CHECK(text(8) == "     a\n x   1\n\n      b\n x   22\n\n     c\n x   3\n");
  CHECK(text(6) == " x\n   a:\n   1\n   b:\n   22\n   c:\n   3\n");
}

TEST_CASE("a table as comma-separated values") {
  const Table table{.columns = {"name", "with \"quotes\"", "seeds, runs"},
                    .rows = {{"a, b", Interval{0.1, -1.0 / 3, 2}, 5},
                             {sentence("{:.1f} %", 9.96), 1e-7, nullptr},
                             {"two\nlines", true, 1234567}}};
  CHECK(csv_text(table) ==
        "name,\"with \"\"quotes\"\"\",\"with \"\"quotes\"\" low\",\"with \"\"quotes\"\" "
        "high\",\"seeds, runs\"\r\n"
        "\"a, b\",0.1,-0.3333333333333333,2,5\r\n"
        "10.0 %,1e-07,,,\r\n"
        "\"two\nlines\",yes,,,1234567\r\n");
}

TEST_CASE("a chart as a table of its points") {
  const Chart chart{.x = "heads",
                    .series = {{"one", {{1, 0.5}, {4, 0.25}}}, {"two", {{2, 1}, {4, 3}}}}};
  CHECK(csv_text(table_of(chart)) == "heads,one,two\r\n1,0.5,\r\n2,,1\r\n4,0.25,3\r\n");
}

TEST_CASE("a table's JSON has what it was given, and a hint only where there is one") {
  const Table plain{.title = "t", .columns = {"", "x"}, .rows = {{"a", 0.5}}};
  CHECK_FALSE(json_of(plain).contains("shown"));
  CHECK(json_of(plain)["rows"][0][1] == 0.5);
  CHECK(json_of(Table{.shown = "folded"})["shown"] == "folded");
}
