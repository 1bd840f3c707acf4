// Writes an answer for a report.
#include "course/learn_send.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cctype>

#include "course/learn_attempts.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_place.hpp"
#include "course/learn_screen.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr || entry->pw_name == nullptr ? "" : entry->pw_name;
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' ||
         c == '-';
}

/// Whether a slash after this character is not the first one of an absolute path.
bool in_path(char c) { return in_name(c) || c == '/' || c == '~'; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string offer_text(const Exercise& exercise, const Verdict& verdict,
                       const TerminalStyle& style) {
  if (verdict.kind != Verdict::Kind::failed || diagnosis_of(exercise, verdict) != "none") return "";
  return "\n" +
         emphasised(
             wrapped(fmt::format("The checks know no reason for these numbers. {} learn send {} "
                                 "writes a file with which you can report that; nothing is sent.",
                                 invocation(), exercise.id),
                     style.columns),
             Emphasis::faint, style) +
         "\n";
}

std::string without_names(std::string text, const std::string& user) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (text[begin] != '/' || (begin > 0 && in_path(text[begin - 1]))) continue;
    std::size_t end = begin, last = begin, parts = 0;  // "/home/kim/1_scale.cpp"
    while (end + 1 < text.size() && text[end] == '/' && in_name(text[end + 1])) {
      last = end++;
      ++parts;
      while (end < text.size() && in_name(text[end])) ++end;
    }
    if (parts > 1) text.replace(begin, last - begin, "...");
  }
  if (user.size() < 3 || user == "root") return text;
  for (std::size_t at = 0; (at = text.find(user, at)) != std::string::npos;) {
    const std::size_t end = at + user.size();
    const bool whole =
        (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) &&
        (end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0);
    if (whole) text.replace(at, user.size(), "USER");
    at = whole ? at + 4 : end;
  }
  return text;
}

fs::path write_for_sending(const Course& course, const Workspace& workspace,
                           const Exercise& exercise) {
  const fs::path answer = workspace.answer(exercise);
  if (!fs::exists(answer)) {
    throw UsageError(
        fmt::format("{} has not begun: there is no {}", exercise.text(), short_path(answer)));
  }
  const fs::path folder = workspace.build() / "send";
  Verdict verdict = judge(course, exercise, course_double, answer, folder);
  if (is_to_compare(course, exercise, course_double, verdict)) {
    learn_mistakes(course, exercise, course_double);
    verdict = run_checks(course, exercise, course_double, folder);
  }
  const Index line = line_of(course, exercise, course_double, verdict, answer, folder);
  const std::string place = fmt::format("{}.cpp:{}", exercise.file, line);
  const std::string text = fmt::format(
      "Exercise {}\nheadroom {}, {}\n\n## The checks\n\n```\n{}```\n\n## The answer\n\n"
      "```cpp\n{}```\n",
      exercise.text(), HEADROOM_VERSION, first_line(run_child({course.compiler, "--version"}).out),
      verdict_text(exercise, verdict, TerminalStyle{}, place), read_file(answer));
  const fs::path file = workspace.folder() / "send" / (exercise.target() + ".md");
  fs::create_directories(file.parent_path());
  write_file(file, without_names(text, user_name()));
  return file;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
