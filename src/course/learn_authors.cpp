// Writes and tries the answers of master files.
#include "course/learn_authors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

#include "course/learn_build.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_screen.hpp"
#include "course/learn_symbols.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

constexpr const char* not_defined = "does not define";  // what answers_without() promise

struct Trial {
  const Exercise* exercise;
  CourseAnswer answer;
  Verdict compiled = {};       // of a mistake
  std::string deviation = {};  // from the promise of the master file; "" if there is none
};

bool as_promised(const CourseAnswer& answer, const Verdict& verdict) {
  using Kind = Verdict::Kind;
  if (answer.name == "solution") return verdict.kind == Kind::passed && verdict.warnings.empty();
  if (answer.promised == MasterFile::not_implemented) {
    return verdict.kind == Kind::not_implemented && verdict.passed.empty();
  }
  if (answer.promised == not_defined) {
    // A member function that its class does not declare does not compile.
    return verdict.kind == Kind::not_defined ||
           (verdict.kind == Kind::does_not_compile && answer.name != "empty");
  }
  const std::string& message = verdict.message;
  const std::string guess = "It looks as if";
  return (verdict.kind == Kind::failed || verdict.kind == Kind::crashed) &&
         message.find((answer.is_mistake ? guess + " " : "") + answer.promised) !=
             std::string::npos &&
         message.find(guess) == message.rfind(guess) &&
         message.find(guess + " either") == std::string::npos;
}

fs::path folder_of(const Course& course, const CoursePrecision& precision, const Trial& trial) {
  return course.folder() /
         ("answers" + precision.suffix + (precision.sanitizers.empty() ? "" : "_sanitized")) /
         (trial.exercise->target() + "_" + trial.answer.name);
}

void run(const Course& course, const CoursePrecision& precision, Trial& trial) {
  const Exercise& exercise = *trial.exercise;
  const CourseAnswer& answer = trial.answer;
  const fs::path folder = folder_of(course, precision, trial);
  const fs::path source = folder / (exercise.file + ".cpp");
  Verdict verdict = trial.compiled;
  if (!answer.is_mistake) {
    fs::create_directories(folder);
    write_file(source, answer.code);
    verdict = judge(course, exercise, precision, source, folder);
  } else if (verdict.kind == Verdict::Kind::passed) {
    verdict = run_checks(course, exercise, precision, folder);
  }
  if (as_promised(answer, verdict)) return;
  trial.deviation =
      fmt::format("{}expected: {}\n", verdict_text(exercise, verdict, TerminalStyle{}),
                  answer.promised.empty() ? "no failure and no warning" : answer.promised);
}

/// The code without the two lines of the innermost namespace that contains an index.
std::string without_namespace(const std::string& code, std::size_t index) {
  std::istringstream stream(code);
  std::vector<std::string> lines;
  std::vector<std::size_t> open;  // the lines that begin the namespaces around the current line
  std::optional<std::size_t> innermost;
  std::size_t begin = 0;
  for (std::string line; std::getline(stream, line); lines.push_back(line)) {
    if (begin > index && !innermost && !open.empty()) innermost = open.back();
    begin += line.size() + 1;
    if (line.starts_with("}  // namespace") && !open.empty()) {
      if (open.back() == innermost) lines[*innermost] = line = "";
      open.pop_back();
    } else if (line.find("namespace ") != std::string::npos && line.ends_with("{")) {
      open.push_back(lines.size());
    }
  }
  std::string rest;
  for (const std::string& line : lines) rest += line + "\n";
  return rest;
}

}  // namespace

std::vector<CourseAnswer> answers_without(const Exercise& exercise,
                                          const std::set<std::string>& functions) {
  const std::string& code = exercise.master.solution().code;
  std::vector<CourseAnswer> answers{{"empty", not_defined, ""}};
  std::set<std::size_t> done;  // the two symbols of a constructor have the same definition
  for (const std::string& function : functions) {
    const std::size_t open = parameters_in(code, function);
    if (open == std::string::npos) {
      throw Error(fmt::format("{}: the solution has no definition of {} that is not indented",
                              exercise.text(), readable_name(function)));
    }
    if (!done.insert(open).second) continue;
    const std::string full = short_name(function);
    const std::size_t colon = full.rfind("::");
    const std::size_t length = full.size() - (colon == std::string::npos ? 0 : colon + 2);
    std::string renamed = code, other = code;
    renamed.replace(open - length, length, "renamed");
    other.insert(open + 1, code[open + 1] == ')' ? "int" : "int, ");
    const std::string number = done.size() == 1 ? "" : fmt::format("_{}", done.size());
    answers.push_back({"renamed" + number, not_defined, renamed});
    answers.push_back({"other_signature" + number, not_defined, other});
    // The definition of a member function is also right in the namespace around an inline one.
    if (code.compare(open - length - 2, 2, "::") == 0) continue;
    answers.push_back({"lost_namespace" + number, not_defined, without_namespace(code, open)});
  }
  return answers;
}

std::vector<fs::path> write_answers(const Exercise& exercise, const fs::path& folder) {
  fs::create_directories(folder);
  std::vector<fs::path> files;
  for (const CourseAnswer& answer : exercise.master.answers) {
    files.push_back(folder / fmt::format("{}_{}.cpp", exercise.file, answer.name));
    write_file(files.back(), answer.code);
  }
  return files;
}

bool try_answers(const Course& course, const CoursePrecision& precision,
                 const TrialOptions& options) {
  const std::vector<std::string>& ids = options.ids;
  for (const std::string& id : ids) course.exercise(id);  // an unknown one is an error
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < course.exercises.size(); ++i) {
    const Exercise& exercise = course.exercises[i];
    if (!ids.empty() && std::find(ids.begin(), ids.end(), exercise.id) == ids.end()) continue;
    if (Index(i) % options.parts != options.part) continue;
    build_checks(course, exercise, precision);
    std::vector<CourseAnswer> answers = exercise.master.answers;
    if (options.solutions_only) answers.resize(1);
    if (options.missing_only) answers.clear();
    if (!options.solutions_only) {
      const auto without =
          answers_without(exercise, required_functions(course, exercise, precision));
      answers.insert(answers.end(), without.begin(), without.end());
    }
    const std::size_t first = trials.size();
    for (const CourseAnswer& answer : answers) trials.push_back({&exercise, answer});
    in_parallel(answers.size(), [&](std::size_t n) {
      Trial& trial = trials[first + n];
      if (!trial.answer.is_mistake) return;
      trial.compiled = observe_mistake(course, exercise, precision, trial.answer,
                                       folder_of(course, precision, trial));
    });
    in_parallel(answers.size(), [&](std::size_t n) {
      Trial& trial = trials[first + n];
      run(course, precision, trial);
      fmt::print("{}  {} {}\n{}", trial.deviation.empty() ? "ok   " : "WRONG", exercise.id,
                 trial.answer.name, trial.deviation);
      std::fflush(stdout);
    });
  }
  const auto wrong = std::count_if(trials.begin(), trials.end(),
                                   [](const Trial& trial) { return !trial.deviation.empty(); });
  fmt::print("{} answers, {} not as promised\n", trials.size(), wrong);
  return wrong == 0;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
