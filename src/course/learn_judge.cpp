// Compiles an answer and runs the checks of its exercise on it.
#include "course/learn_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "course/learn_build.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_symbols.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

fs::path object_file(const Exercise& exercise, const fs::path& folder) {
  return folder / (exercise.target() + ".o");
}

fs::path library_file(const Exercise& exercise, const fs::path& folder) {
  return folder / ("lib" + exercise.target() + ".so");
}

/// The first error of GCC's or clang's output: "line 23: message", and the line itself.
std::string first_error(const std::string& output, const fs::path& source) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t error = line.find("error: ");
    if (error == std::string::npos) continue;
    std::string text = line.substr(error + 7);
    if (line.starts_with(source.string() + ":")) {
      const std::string number = line.substr(source.string().size() + 1);
      text = fmt::format("line {}: {}", number.substr(0, number.find(':')), text);
      std::string code;
      if (std::getline(lines, code) && code.find('|') != std::string::npos) {
        code.erase(0, code.find('|') + 1);
        text += "\n" + code;
        if (std::getline(lines, code) && code.find('|') != std::string::npos) {
          code.erase(0, code.find('|') + 1);
          text += "\n" + code;
        }
      }
    }
    return text;
  }
  return output;
}

/// The warnings of a compiler's output: "line 23: unused variable".
std::string warnings_of(const std::string& output, const fs::path& source) {
  std::istringstream lines(output);
  std::string warnings;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t warning = line.find("warning: ");
    if (warning == std::string::npos || !line.starts_with(source.string() + ":")) continue;
    const std::string number = line.substr(source.string().size() + 1);
    warnings +=
        fmt::format("line {}: {}\n", number.substr(0, number.find(':')), line.substr(warning + 9));
  }
  return warnings;
}

/// The words of a crash.
std::string signal_text(int signal) {
  switch (signal) {
    case SIGALRM: return "was stopped after 60 seconds. Does it wait for something?";
    case SIGXCPU:
      return "was stopped after 10 seconds of processor time. Is there a loop that does not end?";
    case SIGSEGV:
      return "crashed: it used memory that is not there (segmentation fault). Pointers are not "
             "checked; x[i] of an Array is.";
    case SIGSTKFLT:  // which the checks send to themselves
      return "crashed: its stack is full. Does a function call itself without end, or have a very "
             "large array?";
    case SIGXFSZ: return "was stopped after it had printed 64 MB. Does it print in a loop?";
    case SIGFPE: return "crashed: an integer was divided by 0.";
    case SIGABRT: return "was ended by abort().";
    default: return fmt::format("was ended by the signal {}.", signal);
  }
}

/// The message for checks that ended with an exit code above 128, with what they printed as errors.
std::string crash_text(int signal, const std::string& errors) {
  // "/usr/include/c++/12/bits/stl_vector.h:1123: ... operator[](size_type) [with ...]: Assertion
  // '__n < this->size()' failed."
  const std::size_t begin = errors.rfind("Assertion '"), end = errors.find("' failed", begin);
  if (signal != SIGABRT || end == std::string::npos) return "your code " + signal_text(signal);
  const std::string condition = errors.substr(begin + 11, end - begin - 11);
  const std::size_t line = errors.rfind('\n', begin) + 1;  // npos + 1 is 0
  const bool index = errors.substr(line, begin - line).find("operator[]") != std::string::npos;
  return fmt::format(
      "your code was stopped by a check of the standard library: {} does not hold. {}", condition,
      index ? "An index is out of range." : "See what your code printed for the function.");
}

/// The message for checks that ended with the exit code of a program that cannot be loaded: "your
/// code calls `f(Tensor)`, which is not defined".
std::string exit_text(int code, const std::string& errors) {
  constexpr std::string_view undefined = "undefined symbol: ";
  const std::size_t at = errors.find(undefined);
  if (code != ChildResult::not_found || at == std::string::npos) {
    return fmt::format("your code ended the program with the exit code {}.", code);
  }
  const std::size_t begin = at + undefined.size();
  const std::size_t end = std::min(errors.find_first_of(" \n", begin), errors.size());
  return fmt::format("your code calls `{}`, which nothing defines.",
                     readable_name(errors.substr(begin, end - begin)));
}

/// The beginning of a long output, at most 100 lines and about 8 kB of them, and the number of the
/// other lines. A line is cut after 300 bytes.
std::string beginning_of(const std::string& text) {
  constexpr std::size_t most = 8000, most_of_line = 300;
  std::string kept;
  std::size_t begin = 0;
  for (Index lines = 0; begin < text.size() && kept.size() < most && lines < 100; ++lines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t cut = std::min(end, begin + most_of_line);
    while (cut < end && cut > begin && (text[cut] & '\xC0') == '\x80') --cut;  // within a character
    kept += text.substr(begin, cut - begin);
    if (cut < end) kept += fmt::format(" ... and {} more bytes", with_commas(Index(end - cut)));
    if (end < text.size()) kept += '\n';
    begin = end + 1;
  }
  if (begin >= text.size()) return kept;
  const auto more = std::count(text.begin() + std::ptrdiff_t(begin), text.end(), '\n') +
                    (text.ends_with('\n') ? 0 : 1);
  return kept + fmt::format("... and {} more lines\n", with_commas(more));
}

/// Reads the lines of the reporter in chapters/common/main.cpp.
Verdict read_verdict(const std::string& report) {
  Verdict verdict;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("stage ")) {
      verdict.stage = line.substr(6);
    } else if (line == "passed") {
      verdict.passed.push_back(std::move(verdict.stage));
      verdict.stage.clear();
    } else if (line.starts_with("at ")) {
      std::istringstream calls(line.substr(3));
      verdict.calls.clear();
      for (std::string call; calls >> call;) verdict.calls.push_back(call);
    } else if (line == "failed") {
      verdict.kind = Verdict::Kind::failed;
      std::getline(lines, verdict.message, '\0');
      while (verdict.message.ends_with('\n')) verdict.message.pop_back();
      if (verdict.message.starts_with("not implemented")) {
        verdict.kind = Verdict::Kind::not_implemented;
      }
    }
  }
  return verdict;
}

/// The path of the address sanitizer's library.
std::string sanitizer_library(const Course& course) {
  std::string path = run_child({course.compiler, "-print-file-name=libasan.so"}).out;
  while (path.ends_with('\n')) path.pop_back();
  return path;
}

/// Whether an exercise's header includes more of the library than most.
bool needs_more_headers(const Course& course, const Exercise& exercise) {
  const fs::path header = course.chapter(exercise) / (exercise.file + ".hpp");
  const std::string code = fs::exists(header) ? read_file(header) : "";
  for (const char* folder : {"headroom/data/", "headroom/nn/", "headroom/optim/",
                             "headroom/surgery/", "headroom_measure/"}) {
    if (code.find(std::string("#include \"") + folder) != code.npos) return true;
  }
  return false;
}

/// The header to include first: answer_more.hpp, if the exercise needs it and it is built.
fs::path precompiled_header(const Course& course, const Exercise& exercise,
                            const CoursePrecision& precision) {
  const fs::path more = course.folder() / precision.header("answer_more");
  const bool chosen = needs_more_headers(course, exercise) && fs::exists(more.string() + ".gch");
  return chosen ? more : course.folder() / precision.header("answer");
}

}  // namespace

std::string compile_answer(const Course& course, const Exercise& exercise,
                           const CoursePrecision& precision, const fs::path& source,
                           const fs::path& folder, std::string& warnings) {
  fs::create_directories(folder);
  const fs::path object = object_file(exercise, folder);
  const fs::path library = library_file(exercise, folder);
  Words words{course.compiler};
  words.insert(words.end(), course.flags.begin(), course.flags.end());
  words.push_back(precision.optimisation);
  for (const Words& flags : {precision.definitions, precision.sanitizers}) {
    words.insert(words.end(), flags.begin(), flags.end());
  }
  for (const fs::path& path :
       {course.source / "include", course.source / "chapters", course.chapter(exercise)}) {
    words.push_back("-I" + path.string());
  }
  const fs::path precompiled = precompiled_header(course, exercise, precision);
  words.insert(words.end(), {"-include", precompiled.string(), "-fmax-errors=1", "-c",
                             source.string(), "-o", object.string()});
  const ChildResult compiled = run_child(words);
  if (compiled.code == ChildResult::not_found) {
    throw UsageError(fmt::format("the compiler {} is missing; install it (apt-get install g++)",
                                 course.compiler));
  }
  warnings = compiled.err;
  if (compiled.code != 0) return first_error(compiled.err, source);
  // The build tool's programs look for a solution by this name, whoever has linked it.
  Words link{course.compiler, "-shared", "-Wl,-soname," + library.filename().string(),
             object.string(), "-o",      library.string()};
  for (const Words& flags : {course.link_flags, precision.sanitizers}) {
    link.insert(link.end(), flags.begin(), flags.end());
  }
  const ChildResult linked = run_child(link);
  return linked.code == 0 ? "" : linked.err;
}

Verdict compile_and_compare(const Course& course, const Exercise& exercise,
                            const CoursePrecision& precision, const fs::path& source,
                            const fs::path& folder) {
  Verdict verdict;
  std::string warnings;
  verdict.message = compile_answer(course, exercise, precision, source, folder, warnings);
  if (!verdict.message.empty()) {
    verdict.kind = Verdict::Kind::does_not_compile;
    return verdict;
  }
  verdict.warnings = warnings_of(warnings, source);
  build_checks(course, exercise, precision);
  // Without this comparison the checks would test the library's function in place of the answer's.
  verdict.message =
      missing_text(course, exercise, precision, source, library_file(exercise, folder));
  if (!verdict.message.empty()) verdict.kind = Verdict::Kind::not_defined;
  return verdict;
}

Verdict run_checks(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const fs::path& folder, const fs::path& observed) {
  const fs::path report = folder / "report.txt";
  fs::remove(report);
  // Checks are small: starting threads takes longer than they save, and those that wait are counted
  // as processor time where other programs run.
  Words words{"env", "OMP_NUM_THREADS=1", "LD_LIBRARY_PATH=" + folder.string(),
              observed.empty() ? "HEADROOM_MISTAKES=" + known_mistakes(course, exercise, precision)
                               : "HEADROOM_OBSERVED=" + observed.string()};
  if (!precision.sanitizers.empty()) {
    // The checks are compiled without, so the sanitizer has to be loaded before everything else.
    words.push_back("LD_PRELOAD=" + sanitizer_library(course));
    words.push_back("ASAN_OPTIONS=detect_leaks=0");  // the library's pool keeps its blocks
  }
  words.insert(words.end(), {checks_program(course, exercise, precision).string(), "--reporter",
                             "learn", "--out", report.string()});
  const ChildResult run = run_child(words);
  Verdict verdict = read_verdict(fs::exists(report) ? read_file(report) : "");
  verdict.printed = beginning_of(run.out + run.err);
  if (run.code > 128) {
    verdict.kind = Verdict::Kind::crashed;
    verdict.message = crash_text(run.code - 128, run.err);
  } else if (run.code != 0 && verdict.kind == Verdict::Kind::passed) {
    // It ended the program itself, or could not be loaded.
    verdict.kind = Verdict::Kind::crashed;
    verdict.message = exit_text(run.code, run.err);
    if (run.code == ChildResult::not_found) verdict.printed.clear();  // the loader's message
  } else if (verdict.kind == Verdict::Kind::passed &&
             (!verdict.stage.empty() || verdict.passed.empty())) {
    verdict.kind = Verdict::Kind::crashed;
    verdict.message = "your code ended the program.";
  }
  return verdict;
}

Verdict judge(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
              const fs::path& source, const fs::path& folder) {
  const Verdict compiled = compile_and_compare(course, exercise, precision, source, folder);
  if (compiled.kind != Verdict::Kind::passed) return compiled;
  Verdict verdict = run_checks(course, exercise, precision, folder);
  if (verdict.kind != Verdict::Kind::not_implemented) {
    verdict.warnings = compiled.warnings;  // a skeleton has unused names
  }
  return verdict;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
