// Writes an answer for a report.
#include "course/learn_send.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <regex>

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
  static const std::regex path(R"((^|[^\w./~-])~?(?:/[\w.+-]+)+/([\w.+-]+))");
  text = std::regex_replace(text, path, "$1.../$2");
  if (user.size() < 3 || user == "root") return text;
  std::string pattern;
  for (const char c : user) pattern += (std::isalnum(c) != 0 ? "" : "\\") + std::string(1, c);
  return std::regex_replace(text, std::regex("\\b" + pattern + "\\b"), "USER");
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
