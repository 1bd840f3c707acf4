// Asks the questions of a chapter.
#include "course/learn_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "course/learn_attempts.hpp"
#include "course/learn_keys.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// "05/1", the first question of chapter 05.
std::string question_name(const Exercise& exercise, std::size_t index) {
  return fmt::format("{}/{}", exercise.part(), index + 1);
}

std::string question_text(const ChapterQuestion& question, const std::string& title,
                          const TerminalStyle& style) {
  std::string text = fmt::format("{}\n{}\n", emphasised(title, Emphasis::strong, style),
                                 wrapped(question.ask, style.columns));
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    std::string option = wrapped(question.options[i], style.columns, 6);
    option.replace(2, 3, fmt::format("[{}]", i + 1));
    text += option + "\n";
  }
  return text;
}

/// A key 1 to `options`, as an index; nothing for Enter and the end of the input.
std::optional<Index> chosen_option(std::size_t options) {
  while (true) {
    const char key = read_key('\n');
    if (key == '\n' || key == '\r') return {};
    const Index option = key - '1';
    if (option >= 0 && option < Index(options)) return option;
  }
}

}  // namespace

std::vector<ChapterQuestion> questions_of(const Course& course, const Exercise& exercise) {
  return read_ask(course.texts(exercise, "ask.json")).questions;
}

const Exercise& chapter_exercise(const Course& course, const std::string& name) {
  const std::string number = (name.size() == 1 ? "0" : "") + name;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == name || exercise.part() == number) return exercise;
  }
  throw UsageError(
      fmt::format("there is no chapter \"{}\"; {} learn list shows them", name, invocation()));
}

bool questions_are_due(const Course& course, const Workspace& workspace, const Exercise& exercise) {
  for (const Exercise& other : course.exercises) {
    if (course.chapter(other) != course.chapter(exercise)) continue;
    const auto state = workspace.state.exercises.find(other.id);
    if (state == workspace.state.exercises.end() || !state->second.passed) return false;
  }
  const std::size_t count = questions_of(course, exercise).size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!workspace.state.questions.contains(question_name(exercise, i))) return true;
  }
  return false;
}

std::string questions_text(const Course& course, const Exercise& exercise,
                           const TerminalStyle& style) {
  const std::vector<ChapterQuestion> questions = questions_of(course, exercise);
  std::string text;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    text += (text.empty() ? "" : "\n") +
            question_text(questions[i], "Question " + question_name(exercise, i), style);
  }
  return text.empty() ? fmt::format("{} has no questions yet.\n", exercise.chapter) : text;
}

void ask_questions(const Course& course, Workspace& workspace, const Exercise& exercise, bool all,
                   const TerminalStyle& style) {
  const std::vector<ChapterQuestion> questions = questions_of(course, exercise);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const ChapterQuestion& question = questions[i];
    const std::string name = question_name(exercise, i);
    if (!all && workspace.state.questions.contains(name)) continue;
    const std::string title =
        fmt::format("Question {} of {} about this chapter", i + 1, questions.size());
    fmt::print("\n{}{}", question_text(question, title, style),
               emphasised("  your answer (Enter skips it): ", Emphasis::faint, style));
    std::fflush(stdout);
    const std::optional<Index> option = chosen_option(question.options.size());
    if (!option) {
      fmt::print("skipped\n");
      continue;
    }
    const bool right = *option == question.right;
    fmt::print("{}\n\n", *option + 1);
    const auto say = [&](Index which, const char* word, Emphasis emphasis) {
      fmt::print("{}\n{}\n", emphasised(fmt::format("  {} {}", word, which + 1), emphasis, style),
                 wrapped(question.because[std::size_t(which)], style.columns, 4));
    };
    if (!right) say(*option, "Not", Emphasis::bad);
    say(question.right, "Right:", Emphasis::good);
    std::fflush(stdout);
    workspace.reload();
    workspace.state.questions[name] = *option + 1;
    workspace.save();
    note(workspace, {.time = {},
                     .what = "question",
                     .name = name,
                     .value = fmt::format("{}", *option + 1),
                     .right = right});
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
