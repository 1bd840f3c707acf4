// The texts that the runner of the course shows.
#include "course/learn_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// Every line of a text after an indentation.
std::string indented(const std::string& text, int columns) {
  std::string result(std::size_t(columns), ' ');
  for (const char c : text) {
    result += c;
    if (c == '\n') result.append(std::size_t(columns), ' ');
  }
  return result;
}

/// A message in lines of at most `columns` columns, after `margin` spaces. Lines that begin with
/// spaces, such as numbers next to each other, are not wrapped.
std::string message_text(const std::string& message, Index columns, Index margin) {
  std::istringstream lines(message);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!text.empty()) text += '\n';
    text += line.starts_with("  ") ? std::string(std::size_t(margin), ' ') + line
                                   : wrapped(line, columns, margin);
  }
  return text;
}

/// The path as seen from the current folder, if that is shorter.
std::string short_path(const fs::path& path) {
  const std::string relative = fs::proximate(path).string();
  return relative.size() < path.string().size() ? relative : path.string();
}

std::string difficulty_text(const Exercise& exercise, const TerminalStyle& style) {
  std::string text;
  for (Index i = 0; i < 3; ++i) {
    const bool full = i < exercise.master.difficulty;
    text += style.unicode ? (full ? "●" : "○") : (full ? "*" : ".");
  }
  return text;
}

/// The word for the stage that did not pass.
std::string stage_word(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::not_implemented: return "to do";
    case Verdict::Kind::crashed: return "crash";
    default: return "wrong";
  }
}

}  // namespace

std::string verdict_text(const Exercise& exercise, const Verdict& verdict,
                         const TerminalStyle& style) {
  std::string text = emphasised(exercise.text(), Emphasis::strong, style) + "\n";
  for (const std::string& stage : verdict.passed) {
    text += fmt::format("  {}  {}\n", emphasised("ok   ", Emphasis::good, style), stage);
  }
  if (verdict.kind == Verdict::Kind::passed) {
    text += fmt::format("{} All checks pass.\n", emphasised("Right.", Emphasis::good, style));
  } else if (verdict.kind == Verdict::Kind::not_defined) {
    text += fmt::format("  {}\n{}\n", emphasised("not defined", Emphasis::bad, style),
                        message_text(verdict.message, style.columns, 4));
  } else if (verdict.kind == Verdict::Kind::does_not_compile) {
    text += fmt::format("  {}\n{}\n", emphasised("does not compile", Emphasis::bad, style),
                        indented(verdict.message, 4));
  } else {
    text +=
        fmt::format("  {}  {}\n{}\n", emphasised(stage_word(verdict.kind), Emphasis::bad, style),
                    verdict.stage.empty() ? "before the first stage" : verdict.stage,
                    message_text(verdict.message, style.columns, 4));
  }
  if (!verdict.printed.empty()) {
    text += fmt::format("\nYour code printed:\n{}", indented(verdict.printed, 2));
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    text += '\n';
  }
  if (!verdict.warnings.empty()) {
    text += fmt::format("\nThe compiler warns:\n{}", indented(verdict.warnings, 2));
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    text += '\n';
  }
  return text;
}

std::string card_text(const Course& course, const Workspace& workspace, const Exercise& exercise,
                      const TerminalStyle& style) {
  const MasterFile& master = exercise.master;
  std::string needs;
  for (const std::string& id : master.needs) needs += (needs.empty() ? "   after " : ", ") + id;
  return fmt::format(
      "{}   about {} minutes   {}{}{}\n"
      "  your file   {}\n"
      "  the task    {}\n"
      "  the chapter {}\n",
      emphasised(exercise.text(), Emphasis::strong, style), master.minutes,
      difficulty_text(exercise, style), master.path == "short" ? "   on the short path" : "", needs,
      short_path(workspace.answer(exercise)),
      short_path(course.chapter(exercise) / (exercise.file + ".hpp")),
      short_path(course.chapter(exercise) / "README.md"));
}

std::string list_text(const Course& course, Workspace& workspace, const TerminalStyle& style) {
  std::string text, chapter;
  const Exercise* current = workspace.current(course);
  const char* const star = style.unicode ? "★" : "*";
  Index widest = 0, minutes = 0, count = 0;
  for (const Exercise& exercise : course.exercises) {
    widest = std::max(widest, display_width(exercise.master.title));
    if (exercise.master.path != "short") continue;
    ++count;
    minutes += exercise.master.minutes;
  }
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter != chapter) {
      chapter = exercise.chapter;
      std::string title = chapter;
      std::replace(title.begin(), title.end(), '_', ' ');
      text += (text.empty() ? "" : "\n") + emphasised(title, Emphasis::strong, style) + "\n";
    }
    const ExerciseState& state = workspace.of(exercise);
    const char* done = state.passed ? (state.given_up ? "shown" : "done ") : "     ";
    text += fmt::format("{} {} {} {}  {}  {}  {:>2} min\n", &exercise == current ? ">" : " ",
                        emphasised(done, state.passed ? Emphasis::good : Emphasis::faint, style),
                        exercise.master.path == "short" ? star : " ", exercise.id,
                        padded(exercise.master.title, widest), difficulty_text(exercise, style),
                        exercise.master.minutes);
  }
  return text + fmt::format("\n{} the short path: {} of {} exercises, about {} hours\n", star,
                            count, course.exercises.size(), (minutes + 30) / 60);
}

std::string prose_text(const std::string& text, Index columns, Index margin) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool keeps = text[i] != '\n' || i + 1 == text.size() || text[i + 1] == ' ';
    joined += keeps ? text[i] : ' ';
  }
  return message_text(joined, columns, margin);
}

std::string hint_text(Workspace& workspace, const Exercise& exercise, const TerminalStyle& style) {
  const std::vector<std::string>& hints = exercise.master.hints;
  if (hints.empty()) return fmt::format("{} has no hints.\n", exercise.text());
  Index& shown = workspace.of(exercise).hints;
  shown = std::min(shown + 1, Index(hints.size()));
  std::string text;
  for (Index i = 0; i < shown; ++i) {
    text += fmt::format("Hint {} of {}\n{}\n", i + 1, hints.size(),
                        prose_text(hints[std::size_t(i)], style.columns, 2));
  }
  workspace.save();
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
