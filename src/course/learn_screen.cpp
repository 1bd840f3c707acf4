// The texts that the runner of the course shows.
#include "course/learn_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "course/learn_place.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"

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

std::string difficulty_text(const Exercise& exercise, const TerminalStyle& style) {
  std::string text;
  for (Index i = 0; i < 3; ++i) {
    const bool full = i < exercise.master.difficulty;
    text += style.unicode ? (full ? "●" : "○") : (full ? "*" : ".");
  }
  return text;
}

/// A text of compiler messages with "line 12: " replaced by the place, "1_scale.cpp:12: ".
std::string with_places(const std::string& text, const std::string& file) {
  if (file.empty()) return text;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!result.empty()) result += '\n';
    result += line.starts_with("line ") ? file + ":" + line.substr(5) : line;
  }
  return result;
}

/// A message of the checks with the sentences of a translation.
std::string translated(const Exercise& exercise, std::string message) {
  for (const auto& [sentence, other] : exercise.sentences) {
    const std::size_t at = message.find(sentence);
    if (at != std::string::npos) message.replace(at, sentence.size(), other);
  }
  return message;
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
                         const TerminalStyle& style, const std::string& place) {
  const std::string file = place.substr(0, place.rfind(':'));
  const std::string message =
      (place.empty() ? "" : place + ": ") + translated(exercise, verdict.message);
  std::string text = emphasised(exercise.text(), Emphasis::strong, style) + "\n";
  for (const std::string& stage : verdict.passed) {
    text += fmt::format("  {}  {}\n", emphasised("ok   ", Emphasis::good, style), stage);
  }
  if (verdict.kind == Verdict::Kind::passed) {
    text += fmt::format("{} All checks pass.\n", emphasised("Right.", Emphasis::good, style));
  } else if (verdict.kind == Verdict::Kind::not_defined) {
    text += fmt::format("  {}\n{}\n", emphasised("not defined", Emphasis::bad, style),
                        message_text(message, style.columns, 4));
  } else if (verdict.kind == Verdict::Kind::does_not_compile) {
    text += fmt::format(
        "  {}\n{}\n", emphasised("does not compile", Emphasis::bad, style),
        indented(
            verdict.message.starts_with("line ") ? with_places(verdict.message, file) : message,
            4));
  } else {
    text +=
        fmt::format("  {}  {}\n{}\n", emphasised(stage_word(verdict.kind), Emphasis::bad, style),
                    verdict.stage.empty() ? "before the first stage" : verdict.stage,
                    message_text(message, style.columns, 4));
  }
  if (!verdict.printed.empty()) {
    text += fmt::format("\nYour code printed:\n{}", indented(verdict.printed, 2));
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    text += '\n';
  }
  if (!verdict.warnings.empty()) {
    text +=
        fmt::format("\nThe compiler warns:\n{}", indented(with_places(verdict.warnings, file), 2));
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    text += '\n';
  }
  return text;
}

std::string card_text(const Course& course, const Workspace& workspace, const Exercise& exercise,
                      const TerminalStyle& style) {
  const MasterFile& master = exercise.master;
  const fs::path answer = workspace.answer(exercise);
  std::string needs;
  for (const std::string& id : master.needs) needs += (needs.empty() ? "   after " : ", ") + id;
  return fmt::format(
      "{}   about {} minutes   {}{}{}\n"
      "  your file   {}\n"
      "  the task    {}\n"
      "  the chapter {}\n",
      emphasised(exercise.text(), Emphasis::strong, style), master.minutes,
      difficulty_text(exercise, style), master.path == "short" ? "   on the short path" : "", needs,
      fs::exists(answer) ? place_text(answer, first_gap(read_file(answer))) : short_path(answer),
      short_path(course.chapter(exercise) / (exercise.file + ".hpp")),
      short_path(course.texts(exercise, "README.md") / "README.md"));
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
  workspace.reload();
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
