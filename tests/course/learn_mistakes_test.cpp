// Which mistakes of an exercise are known.
#include "course/learn_mistakes.hpp"

#include <chrono>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

TEST_CASE("a mistake is known if its file is newer than the checks, and all are used or none") {
  const TemporaryFolder folder;
  Course course;
  course.build = folder.path();
  Exercise exercise{"05/4", "05_one_head", "4_attention", {}};
  exercise.master.answers = {{"solution", "", ""},
                             {"one", "the first", "", true},
                             {"other", "a message", ""},
                             {"two", "the second", "", true}};
  const auto unknown = [&] {
    std::string names;
    for (const CourseAnswer* mistake : unknown_mistakes(course, exercise, course_double)) {
      names += mistake->name + " ";
    }
    return names;
  };
  const auto made = [&](const std::string& file, int seconds) {
    folder.file("course/" + file, "");
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(folder / ("course/" + file),
                                     now + std::chrono::seconds(seconds));
  };
  const auto known = [&] { return known_mistakes(course, exercise, course_double); };
  CHECK(unknown() == "one two ");
  made("checks_f64/05_4_checks", 0);
  made("mistakes_f64/05_4/one.txt", 10);
  CHECK(unknown() == "two ");
  CHECK(known().empty());
  made("mistakes_f64/05_4/two.txt", 10);
  CHECK(unknown().empty());
  CHECK(known() == (folder / "course/mistakes_f64/05_4/one.txt").string() + "\n" +
                       (folder / "course/mistakes_f64/05_4/two.txt").string() + "\n");
  made("checks_f64/05_4_checks", 20);
  CHECK(unknown() == "one two ");
  CHECK(known().empty());
  Verdict verdict;
  CHECK_FALSE(is_to_compare(course, exercise, course_double, verdict));
  verdict.kind = Verdict::Kind::failed;
  CHECK(is_to_compare(course, exercise, course_double, verdict));
}
