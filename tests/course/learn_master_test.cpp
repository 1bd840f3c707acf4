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
