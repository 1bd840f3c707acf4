// Attempts, and the numbers that are computed from them.
#include <fmt/format.h>

#include "course/learn_attempts.hpp"

#include "course/learn_items.hpp"
#include "course/learn_predictions.hpp"
#include "course/learn_send.hpp"
#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

namespace {

using Kind = Verdict::Kind;

Exercise exercise_with(const std::string& id) {
  Exercise exercise;
  exercise.id = id;
  exercise.chapter = id.substr(0, 2) + "_chapter";
  exercise.master.answers = {{"solution", "", ""},
                             {"skeleton", MasterFile::not_implemented, ""},
                             {"no_mean", "the mean is missing", "", true},
                             {"not_recorded", "the result is not recorded on the tape", "", false}};
  return exercise;
}

Verdict verdict_of(Kind kind, const std::string& message) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.message = message;
  return verdict;
}

AttemptEvent attempt(const std::string& exercise, bool passed, const std::string& diagnosis) {
  AttemptEvent event{.time = "2026-05-01T12:00:00Z", .what = "attempt", .exercise = exercise};
  event.passed = passed;
  event.diagnosis = diagnosis;
  return event;
}

}  // namespace

TEST_CASE("a diagnosis has a name") {
  const Exercise exercise = exercise_with("05/4");
  const auto name = [&](Kind kind, const std::string& message) {
    return diagnosis_of(exercise, verdict_of(kind, message));
  };
  CHECK(name(Kind::passed, "") == "none");
  CHECK(name(Kind::failed, "3 of 4 elements differ") == "none");
  CHECK(name(Kind::failed, "3 elements differ.\nIt looks as if the mean is missing.") == "no_mean");
  CHECK(name(Kind::failed, "It looks as if either the mean is missing,\nor x.") == "no_mean");
  CHECK(name(Kind::failed, "It looks as if dy is ignored: another dy gives the same.") ==
        "dy_is_ignored_another_dy_gives");
  CHECK(name(Kind::failed, "no, the result is not recorded on the tape: return") == "not_recorded");
  CHECK(name(Kind::failed, "4 elements differ.\nThey are right but for a constant factor: 2") ==
        "constant_factor");
  CHECK(name(Kind::failed, "with head_dim = 16 your function returns 3") ==
        "with_head_dim_16_your_function");
  CHECK(name(Kind::crashed, "your code crashed") == "crash");
  CHECK(name(Kind::not_implemented, "x") == "to_do");
  CHECK(diagnosis_text(exercise, "no_mean") == "the mean is missing");
  CHECK(diagnosis_text(exercise, "constant_factor") == "constant factor");
}

TEST_CASE("attempts are kept once per file, and not at all when that is off") {
  const TemporaryFolder folder;
  Course course;
  course.source = course.build = folder.path();
  setenv("HEADROOM_WORKSPACE", (folder / "workspace").c_str(), 1);
  Workspace workspace(course);
  unsetenv("HEADROOM_WORKSPACE");
  Exercise exercise = exercise_with("05/4");
  exercise.file = "4_attention";
  exercise.master.answers[1].code = "skeleton";
  const auto save = [&](const std::string& code) {
    folder.file("workspace/05_chapter/4_attention.cpp", code);
  };
  const auto events = [&] { return read_attempts(workspace.folder()); };
  CHECK(events().empty());
  note_begin(workspace, exercise);
  note_begin(workspace, exercise);
  CHECK(events().size() == 1);
  save("skeleton");
  note_attempt(workspace, exercise, verdict_of(Kind::not_implemented, "a gap"));
  CHECK(events().size() == 1);  // the file that the exercise begins with is no attempt
  save("one");
  workspace.of(exercise).hints = 2;
  for (int i = 0; i < 2; ++i) {
    note_attempt(workspace, exercise,
                 verdict_of(Kind::failed, "It looks as if the mean is missing"));
  }
  REQUIRE(events().size() == 2);
  CHECK(events()[1].diagnosis == "no_mean");
  CHECK(events()[1].hints == 2);
  CHECK(events()[1].passed == false);
  CHECK(events()[1].minutes.value_or(99) < 1);
  workspace.state.attempts = "off";
  save("two");
  note_attempt(workspace, exercise, verdict_of(Kind::passed, ""));
  note_prediction(workspace, "07/a", "1e-8");
  CHECK(events().size() == 2);
  workspace.state.attempts = "";
  note_attempt(workspace, exercise, verdict_of(Kind::passed, ""));
  note_prediction(workspace, "07/a", "1e-8", 2e-8);
  REQUIRE(events().size() == 4);
  CHECK(events()[2].passed == true);
  CHECK(events()[3].measured == 2e-8);
  for (const char* broken : {"{", "[]", R"({"version": 9, "events": []})",
                             R"({"version": 1, "events": [{"time": "x"}]})"}) {
    folder.file("workspace/attempts.json", broken);
    CHECK_THROWS_AS(events(), DataError);
  }
}

TEST_CASE("a long pause counts as ten minutes") {
  std::vector<AttemptEvent> events;
  for (const char* time : {"12:00:00", "12:04:00", "23:04:00"}) {
    events.push_back(attempt("05/4", false, "none"));
    events.back().time = fmt::format("2026-05-01T{}Z", time);
  }
  CHECK(active_minutes(events, "05/4") == 14);
  CHECK(active_minutes(events, "05/3") == 0);
  CHECK(seconds_of("1970-01-01T00:01:00Z") == 60);
  CHECK(seconds_of("yesterday") == 0);
}

TEST_CASE("a prediction is near or far in words") {
  CHECK(nearness("0.25", 0.25).text == "the same");
  CHECK(nearness("1/4", 0.25).text == "the same");
  CHECK(nearness("72 %", 72).text == "the same");
  CHECK(nearness("72%", 0.72).text == "the same");
  CHECK(nearness("20", 24).text == "17 % too small");
  CHECK(nearness("2e-8", 1e-8).text == "2 times too large");
  CHECK(nearness("-3e-8", -1e-8).text == "3 times too large");
  CHECK(nearness("1e-8", 4e-8).text == "4 times too small");
  CHECK(nearness("0", 3).text == "too small");
  CHECK(nearness("1", 0).text == "too large");
  CHECK(nearness("-1", 3).text == "of the other sign");
  CHECK(nearness("never", 3).text == "a word");
  CHECK((nearness("20", 24).near && nearness("2", 1).near));
  CHECK_FALSE((nearness("2.1", 1).near || nearness("0", 3).near || nearness("never", 3).near));
}

TEST_CASE("exercises are compared over learners") {
  Course course;
  for (const char* id : {"05/1", "05/2", "05/3"}) course.exercises.push_back(exercise_with(id));
  // Five learners, of whom the two that solve 05/2 solve everything: what one knows, one knows.
  std::vector<CourseLearner> learners;
  for (int i = 0; i < 5; ++i) {
    CourseLearner learner{"x", {attempt("05/1", false, "no_mean")}};
    if (i > 0) learner.events.push_back(attempt("05/1", true, "none"));
    if (i > 1) learner.events.push_back(attempt("05/2", false, "none"));
    if (i > 2) learner.events.push_back(attempt("05/2", true, "none"));
    learners.push_back(learner);
  }
  const auto items = exercise_items(course, learners);
  REQUIRE(items.size() == 2);  // nobody began 05/3
  CHECK(items[0].exercise == "05/1");
  CHECK(items[0].began == 5);
  CHECK(items[0].solved == 0.8);
  CHECK(items[0].attempts == 2);
  CHECK(items[0].before_pass == "no_mean");
  CHECK(items[0].stopped == 1);
  // x = 0 1 1 1 1, rest = 0 0 0 1 1: covariance 0.08 over sqrt(0.16 * 0.24).
  CHECK(std::abs(items[0].discrimination.value_or(9) - 0.08 / std::sqrt(0.16 * 0.24)) < 1e-12);
  CHECK(items[1].began == 3);
  CHECK_FALSE(items[1].discrimination.has_value());  // fewer than five
  CHECK(items[1].stopped == 1);
  learners.pop_back();  // four
  CHECK_FALSE(exercise_items(course, learners)[0].discrimination.has_value());
  const Table table = table_of(items);
  CHECK(words(table.rows[0][3]) == "0.41");
  CHECK(words(table.rows[1][3]) == "-");
  CHECK(items_text({}, 0, TerminalStyle{}).find("Nobody") == 0);
}

TEST_CASE("a file to send has no name of the user and no absolute path") {
  CHECK(without_names("in /home/kim/ws/1_scale.cpp:12: x", "kim") == "in .../1_scale.cpp:12: x");
  CHECK(without_names("\"/home/kim/a\" kim, kimono, a/b/c, 1 / 2, // x", "kim") ==
        "\".../a\" USER, kimono, a/b/c, 1 / 2, // x");
  CHECK(without_names("https://example.org/a", "kim") == "https://example.org/a");
  CHECK(without_names("root", "root") == "root");
}
