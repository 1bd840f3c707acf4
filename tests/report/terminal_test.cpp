// Pictures in text.
#include "headroom_lab/report/terminal.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
const TerminalStyle plain{.unicode = true, .colour = false};
const TerminalStyle ascii{.unicode = false, .colour = false};
}  // namespace

TEST_CASE("an attention map has the keys on top and a shade per weight") {
  const std::vector<std::string> keys = {"M", "a", "y"}, queries = {"0", "5"};
  const std::vector<std::vector<double>> weights = {{0.05, 0.1, 0.85}, {0.6, 0.3, 0.1}};
  CHECK(attention_map_text(keys, queries, weights, plain, 2) ==
        "     M a y\n"
        "  0  . ░ █\n"
        "  5  █ ▒ ░\n");
  CHECK(attention_map_text(keys, queries, weights, ascii) ==
        "   M a y\n"
        "0  . - #\n"
        "5  # + -\n");
  CHECK(shades_text(plain) == "█ from 0.6, ▒ from 0.3, ░ from 0.1, . less");
  CHECK(shades_text(ascii) == "# from 0.6, + from 0.3, - from 0.1, . less");
}

TEST_CASE("a map that is too wide closes its gaps, longer tokens keep their columns") {
  TerminalStyle narrow = plain;
  narrow.columns = 6;
  const std::vector<std::string> keys = {"a", "b", "c", "d"}, query = {"q"};
  CHECK(attention_map_text(keys, query, {{1, 0, 0, 0}}, narrow) == "  abcd\nq █...\n");
  const std::vector<std::string> words = {"AH0", "B"};
  CHECK(attention_map_text(words, query, {{1, 0}}, plain) == "   AH0 B\nq  ███ .\n");
}

TEST_CASE("a map that is still too wide continues below itself") {
  TerminalStyle narrow = plain;
  narrow.columns = 6;
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"}, query = {"q"};
  CHECK(attention_map_text(keys, query, {{1, 0, 0, 0, 0, 1}}, narrow) ==
        "  abcd\nq █...\n\n  ef\nq .█\n");
  const std::vector<std::string> words = {"AH0", "B", "wider than the line", "C"};
  CHECK(attention_map_text(words, query, {{1, 0, 0, 1}}, narrow) ==
        "   AH0\nq  ███\n\n   B\nq  .\n\n   wider than the line\nq  ...................\n\n"
        "   C\nq  █\n");
}

TEST_CASE("a map whose weights do not fit its tokens is refused") {
  const std::vector<std::string> keys = {"a", "b"}, queries = {"q"};
  CHECK_THROWS_WITH(attention_map_text(keys, queries, {}, plain),
                    "attention_map_text: 0 rows of weights for 1 queries");
  CHECK_THROWS_AS(attention_map_text(keys, queries, {{1.0}}, plain), ShapeError);
}

TEST_CASE("grids of heads and tables") {
  CHECK(head_grid_text({{true, false}, {false, true}}, plain) == "o x | x o");
  CHECK(table_text({"", "exact", "step"}, {{"before", "99.6 %", "38.1 ms"}, {"after", "9 %", ""}},
                   plain, 1) ==
        "           exact      step\n"
        " before   99.6 %   38.1 ms\n"
        " after       9 %\n");
  CHECK_THROWS_AS(table_text({"a"}, {{"1", "2"}}, plain), ShapeError);
}

TEST_CASE("a table that does not fit closes its gaps, then continues below itself") {
  TerminalStyle narrow = plain;
  const auto text = [&](int columns) {
    narrow.columns = columns;
    return fitted_table_text({"", "a", "b", "c"}, {{"x", "1", "22", "3"}}, narrow, 1);
  };
  const std::string roomy = "     a    b   c\n x   1   22   3\n";
  CHECK(text(15) == roomy);
  CHECK(text(80) == roomy);
  CHECK(text(14) == "    a   b  c\n x  1  22  3\n");
  CHECK(text(9) == "   a  b c\n x 1 22 3\n");
  CHECK(text(8) == "     a\n x   1\n\n      b\n x   22\n\n     c\n x   3\n");
  CHECK(text(1) == text(8));  // at least one column beside the first
}
