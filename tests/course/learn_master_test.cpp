// The master file of an exercise: its head, its answers, and errors that name a line.
#include "course/learn_master.hpp"

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

MasterFile read(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "1_x.cpp", text);
  return read_master(folder / "1_x.cpp");
}

const std::string head =
    "//! title: f\n//! minutes: 20\n//! difficulty: 2\n//! path: short\n//! needs: 06/1 06/2\n"
    "//! hint: one\n//!   and its second line\n//! hint: two\n";

}  // namespace

TEST_CASE("a master file describes its exercise") {
  const MasterFile file = read(head + "int f() {\n  return 1;\n}\n");
  CHECK(file.title == "f");
  CHECK(file.minutes == 20);
  CHECK(file.difficulty == 2);
  CHECK(file.path == "short");
  CHECK(file.needs == std::vector<std::string>{"06/1", "06/2"});
  CHECK(file.hints == std::vector<std::string>{"one\nand its second line", "two"});
  CHECK(file.solution().code == "int f() {\n  return 1;\n}\n");
  CHECK(file.skeleton().code == file.solution().code);
}

TEST_CASE("every answer has its own parts, and the solution's where it has none") {
  const MasterFile file = read(
      "int f() {\n  //! solution\n  int a = 1;\n  //! skeleton\n  // int a = todo();\n"
      "  //! wrong two: it is 2\n  // int a = 2;\n  // // not 1\n  //! end\n"
      "  //! solution\n  return a;\n  //! wrong two: it is 2\n  //! wrong none: undefined\n"
      "  // return 0;\n  //! end\n}\n");
  REQUIRE(file.answers.size() == 4);
  CHECK(file.solution().code == "int f() {\n  int a = 1;\n  return a;\n}\n");
  CHECK(file.skeleton().code == "int f() {\n  int a = todo();\n  return a;\n}\n");
  CHECK(file.answers[2].name == "two");
  CHECK(file.answers[2].promised == "it is 2");
  CHECK(file.answers[2].code == "int f() {\n  int a = 2;\n  // not 1\n}\n");
  CHECK(file.answers[3].code == "int f() {\n  int a = 1;\n  return 0;\n}\n");
}

TEST_CASE("the sentence of a mistake may have several lines, and is said once") {
  const MasterFile file = read(
      "int f() {\n  //! solution\n  int a = 1;\n  //! mistake two: it is 2:\n  //!   1 and 1\n"
      "  // int a = 2;\n  //! end\n  //! solution\n  return a;\n"
      "  //! mistake two: again\n  //!   and again\n  // return a + 1;\n  //! wrong none: no\n"
      "  //! end\n}\n");
  REQUIRE(file.answers.size() == 4);
  CHECK(file.answers[2].promised == "it is 2: 1 and 1");
  CHECK(file.answers[2].is_mistake);
  CHECK(file.answers[2].code == "int f() {\n  int a = 2;\n  return a + 1;\n}\n");
  CHECK_FALSE(file.answers[3].is_mistake);
}

namespace {

/// A file of seven lines with a block, in which the part of the wrong answer "bad" begins in
/// line 7.
std::string with_part(const std::string& part) {
  return "int f(int n) {\n  //! solution\n  int sum = 0;\n  for (int i = 0; i < n; ++i) {\n"
         "    sum += i;\n  }\n  //! wrong bad: no\n" +
         part + "  //! end\n  g();\n  g();\n\n  return sum;\n}\n";
}

/// The code of "bad".
std::string patched(const std::string& part) { return read(with_part(part)).answers[2].code; }

}  // namespace

TEST_CASE("a part of an answer can be a patch of the whole solution") {
  const std::string solution = read(with_part("")).solution().code;
  const auto with = [&](const std::string& old, const std::string& text) {
    std::string code = solution;
    return code.replace(code.find(old), old.size(), text);
  };
  CHECK(patched("  //-     sum += i;\n  //+     sum += 2 * i;\n") == with("+= i", "+= 2 * i"));
  // It is read from the file's solution and not only from that of the block.
  CHECK(patched("//-return sum;\n//+return 0;\n") == with("return sum", "return 0"));
  CHECK(patched("  //- sum += i;\n") == with("    sum += i;\n", ""));
  CHECK(read(with_part("  //- sum += i;\n")).solution().code == solution);
  CHECK(read(with_part("  //- sum += i;\n")).skeleton().code == solution);

  SECTION("lines that stay tell its place") {
    CHECK(patched("  //  g();\n  //\n  //- return sum;\n  //+ return 1;\n") ==
          with("return sum", "return 1"));
    CHECK(patched("  //- g();\n  //\n") == with("  g();\n\n", "\n"));
  }
  SECTION("an added line is indented as far as the patch says") {
    CHECK(patched("  //+ a();\n  //+   b();\n  //+\n  //  sum += i;\n  //+ c();\n") ==
          with("    sum += i;\n", "    a();\n      b();\n\n    sum += i;\n    c();\n"));
    CHECK(patched("  //     sum += i;\n  //+a();\n") == with("i;\n", "i;\na();\n"));
    CHECK(patched("  //  int sum = 0;\n  //+   a();\n") == with("0;\n", "0;\n    a();\n"));
  }
  SECTION("it can have several places, in any order") {
    const std::string code = with("sum = 0", "sum = 7");
    const std::string first = "  //- int sum = 0;\n  //+ int sum = 7;\n";
    const std::string second = "  //- return sum;\n";
    CHECK(patched(first + "  // ...\n" + second) == patched(second + "  // ...\n" + first));
    CHECK(patched(first) == code);
    CHECK(patched(first + "  // ...\n" + second).find("return") == std::string::npos);
    // A line that one place adds does not count as a line of the solution for the other.
    CHECK_NOTHROW(patched("  //+ return sum;\n  // int sum = 0;\n  // ...\n" + second));
  }
  SECTION("it applies to an answer's own code of another block") {
    const MasterFile file = read(
        "int f();\n//! solution\nint a;\n//! wrong bad: no\n// int b;\n//! end\n"
        "//! solution\nint c;\n//! wrong bad: no\n//  int b;\n//- int c;\n//! end\n");
    CHECK(file.answers[2].code == "int f();\nint b;\n");
  }
}

TEST_CASE("a patch that does not apply exactly once is an error with its line and a remedy") {
  const auto refused = [](const std::string& part, const char* line, const char* reason) {
    CHECK_THROWS_AS(patched(part), DataError);
    CHECK_THROWS_WITH(patched(part), Contains("1_x.cpp" + std::string(line)) && Contains(reason));
  };
  refused("  //- sum += 2;\n  //+ a();\n", ":8:", "not consecutive lines of the solution; copy");
  refused("  //- int sum = 0;\n  //- sum += i;\n", ":8:", "put \"// ...\" between two places");
  refused("  //- sum += i;\n  // ...\n  //- g();\n", ":10:", "more than one place of the solution");
  refused("  // g();\n  //+ a();\n", ":8:", "add a line before or after them");
  refused("  //+ a();\n", ":8:", "add a line of the solution");
  refused("  //- sum += i;\n  // ...\n", ":10:", "add a line of the solution");
  refused("  //- sum += i;\n  // ...\n  // return sum;\n", ":10:", "this changes nothing");
  refused("  //- sum += i;\n  //+ sum += i;\n", ":8:", "this changes nothing");
  refused("  //- sum += i;\n  sum += 2 * i;\n", ":9:", "a line of a patch begins with");
  refused("  //- sum += i;\n  //* a();\n", ":9:", "a line of a patch begins with");
  refused("  //  sum += i;\n  //- }\n  // ...\n  //- sum += i;\n", ":11:", "join them");
}

TEST_CASE("errors in a master file name the line") {
  const auto refused = [](const std::string& text, const char* line, const char* reason) {
    CHECK_THROWS_AS(read(text), DataError);
    CHECK_THROWS_WITH(read(text), Contains("1_x.cpp" + std::string(line)) && Contains(reason));
  };
  refused("//! minutes: many\n", ":1:", "not a number: many");
  refused("//! title: f\n//! weight: 2\n", ":2:", "unknown key weight");
  refused("//!   continues\n", ":1:", "nothing to continue");
  refused("int a;\n//! skeleton\n", ":2:", "expected //! solution");
  refused("int a;\n//! solution\n//! solution\n", ":3:", "a block in a block");
  refused("int a;\n//! solution\n//! wrong\n", ":3:", "wrong NAME: TEXT");
  refused("int a;\n//! solution\nint b;\n", ":3:", "a block without //! end");
}
