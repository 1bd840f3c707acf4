// The commands that go through all exercises: learn list, learn grade.
#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/streams.hpp"
#include "course/learn_items.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_screen.hpp"
#include "course/learn_session.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// An exercise in the lists for programs.
struct ListedExercise {
  std::string id, title, chapter, file;
  Index minutes = 0, difficulty = 0;
  bool short_path = false, passed = false;
  std::string message;  // of the checks, when they ran

  using T = ListedExercise;
  using Fields = Listed<&T::id, &T::title, &T::chapter, &T::file, &T::minutes, &T::difficulty,
                        &T::short_path, &T::passed, if_any<&T::message>>;
};

ListedExercise listed(Session& session, const Exercise& exercise) {
  return {exercise.id,
          exercise.master.title,
          exercise.chapter,
          session.workspace.answer(exercise).string(),
          exercise.master.minutes,
          exercise.master.difficulty,
          exercise.master.path == "short",
          session.workspace.of(exercise).passed,
          {}};
}

/// Compares the exercises over the workspaces of several learners.
int grade_items(const LearnOptions& options) {
  if (options.json && options.csv) throw UsageError("--json and --csv: choose one of them");
  const Course course = load_course();
  const std::vector<ExerciseItem> items = exercise_items(course, read_learners(options.items));
  fmt::print("{}", options.json ? json_of(items).dump(2) + "\n"
                   : options.csv
                       ? csv_text(table_of(items))
                       : items_text(items, options.items.size(), TerminalStyle::of(stdout)));
  return 0;
}

}  // namespace

int list(const LearnOptions& options) {
  Session session(options);
  if (!options.json) {
    fmt::print("{}", list_text(session.course, session.workspace, TerminalStyle::of(stdout)));
    return 0;
  }
  std::vector<ListedExercise> all;
  for (const Exercise& exercise : session.course.exercises) {
    all.push_back(listed(session, exercise));
  }
  fmt::print("{}\n", json_of(all).dump(2));
  return 0;
}

int grade(const LearnOptions& options) {
  if (!options.items.empty()) return grade_items(options);
  if (options.csv) throw UsageError("--csv needs --items and the folders of workspaces");
  Session session(options);
  std::vector<ListedExercise> all;
  Index failed = 0;
  for (const Exercise& exercise : session.course.exercises) {
    ListedExercise& entry = all.emplace_back(listed(session, exercise));
    const fs::path answer = session.workspace.answer(exercise);
    if (!fs::exists(answer)) {
      entry.passed = false;
      entry.message = "not begun";
    } else {
      const fs::path folder = session.workspace.build() / "grade";
      Verdict verdict = judge(session.course, exercise, course_double, answer, folder);
      if (is_to_compare(session.course, exercise, course_double, verdict)) {
        learn_mistakes(session.course, exercise, course_double);
        verdict = run_checks(session.course, exercise, course_double, folder);
      }
      entry.passed = verdict.kind == Verdict::Kind::passed;
      entry.message = verdict.stage + (verdict.stage.empty() ? "" : ": ") + verdict.message;
    }
    failed += entry.passed ? 0 : 1;
    if (!options.json && !options.junit) {
      fmt::print("{}  {}\n", entry.passed ? "done " : "     ", exercise.text());
    }
  }
  if (options.json) {
    fmt::print("{}\n", json_of(all).dump(2));
  } else if (options.junit) {
    fmt::print(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"headroom\" "
        "tests=\"{}\" failures=\"{}\">\n",
        all.size(), failed);
    for (const ListedExercise& entry : all) {
      fmt::print("  <testcase classname=\"{}\" name=\"{} {}\"", entry.chapter, entry.id,
                 escaped_markup(entry.title));
      if (entry.passed) {
        fmt::print("/>\n");
      } else {
        fmt::print("><failure message=\"{}\"/></testcase>\n", escaped_markup(entry.message));
      }
    }
    fmt::print("</testsuite>\n");
  } else {
    fmt::print("{} of {} exercises are done.\n", Index(all.size()) - failed, all.size());
  }
  return failed == 0 ? 0 : not_passed;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
