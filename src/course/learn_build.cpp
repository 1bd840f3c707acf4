// Compiles solutions and checks.
#include "course/learn_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "cli/frame/streams.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_mistakes.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// The line of the first error in a compiler's output.
std::string first_error_line(const std::string& output) {
  const std::size_t error = output.find("error: ");
  const std::size_t begin =
      error == std::string::npos ? 0 : output.rfind('\n', error) + 1;  // npos + 1 is 0
  return output.substr(begin, output.find('\n', begin) - begin);
}

/// Runs the compiler; throws Error with its first error.
void compile(const Words& words, const Exercise& exercise, const char* fails) {
  const ChildResult result = run_child(words);
  if (result.code == 0) return;
  throw Error(
      fmt::format("{}: the checks {}: {}", exercise.id, fails, first_error_line(result.err)));
}

/// The file that names the chapter of the checks that were built last under an exercise's name.
fs::path note_of_origin(const fs::path& program) { return program.string() + ".from"; }

/// The shared library of an exercise's solution.
fs::path solution_library(const Course& course, const Exercise& exercise,
                          const CoursePrecision& precision) {
  return course.folder() / ("solutions" + precision.suffix) /
         fmt::format("lib{}.so", exercise.target());
}

/// Whether the program was built from this chapter and is newer than the files that a change of the
/// course can touch.
bool is_fresh(const fs::path& program, const Course& course, const Exercise& exercise,
              const CoursePrecision& precision) {
  // The build tool, which links solutions of experiments to the same files, removes one if it is
  // interrupted.
  if (!fs::exists(program) || !fs::exists(solution_library(course, exercise, precision))) {
    return false;
  }
  if (exercise.in_pack()) {
    const fs::path note = note_of_origin(program);
    if (!fs::exists(note) || read_file(note) != exercise.folder.string()) return false;
  }
  const auto built = fs::last_write_time(program);
  const fs::path common = course.source / "chapters/common";
  const auto newer = [&](const fs::path& file) { return time_of(file) > built; };
  for (const fs::path& file :
       {common / "checks.cpp", common / "main.cpp", common / "mistakes.cpp",
        course.folder() / "lib" / fmt::format("libheadroom{}.so", precision.suffix),
        course.folder() / "course.json"}) {
    if (newer(file)) return false;
  }
  for (const fs::path& folder : {common, course.chapter(exercise)}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const fs::path& file = entry.path();
      const bool of_exercise = file.filename().string().starts_with(exercise.file);
      if ((of_exercise || file.extension() == ".hpp") && newer(file)) return false;
    }
  }
  return true;
}

/// Whether the checks of an exercise call libheadroom_measure_f64.so, as those of chapters 11
/// and 13.
bool needs_measure_library(const Course& course, const Exercise& exercise) {
  const std::string checks = read_file(course.chapter(exercise) / (exercise.file + "_checks.cpp"));
  return checks.find("\"headroom_measure/") != checks.npos ||
         checks.find("\"headroom_runs/") != checks.npos;
}

/// Compiles it as programs need it: experiments run on the same file.
void compile_solution(const Course& course, const Exercise& exercise, const fs::path& solutions) {
  const fs::path source = course.chapter(exercise) / (exercise.file + ".cpp");
  std::string warnings;
  const std::string error =
      compile_answer(course, exercise, kept_double, source, solutions, warnings);
  if (error.empty()) return;
  throw Error(fmt::format("{}: the solution does not compile: {}", source.string(),
                          error.substr(0, error.find('\n'))));
}

void compile_checks(const Course& course, const Exercise& exercise,
                    const CoursePrecision& precision, const fs::path& object) {
  Words words{course.compiler};
  words.insert(words.end(), course.checks_flags.begin(), course.checks_flags.end());
  words.insert(words.end(), precision.definitions.begin(), precision.definitions.end());
  const fs::path chapter = course.chapter(exercise);
  for (const fs::path& path : {course.source / "include", course.source / "chapters",
                               course.source / "tests", chapter, chapter.parent_path()}) {
    words.push_back("-I" + path.string());
  }
  const fs::path precompiled = course.folder() / fmt::format("checks{}.hpp", precision.suffix);
  words.insert(words.end(),
               {"-include", precompiled.string(), "-c",
                (chapter / (exercise.file + "_checks.cpp")).string(), "-o", object.string()});
  compile(words, exercise, "do not compile");
}

/// Links the checks with the solution, by its name, so that LD_LIBRARY_PATH can put another answer
/// in its place.
void link_checks(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                 const fs::path& object, const fs::path& solutions, const fs::path& program) {
  Words words{course.compiler, "-Wl,--no-as-needed",      "-Wl,--enable-new-dtags",
              object.string(), "-L" + solutions.string(), "-l" + exercise.target()};
  words.insert(words.end(), course.link_flags.begin(), course.link_flags.end());
  words.insert(words.end(), course.checks_libraries.begin(), course.checks_libraries.end());
  const bool all = needs_measure_library(course, exercise);
  for (const fs::path& library : shared_libraries(course, precision)) {
    words.push_back(library.string());
    if (!all) break;
  }
  words.insert(words.end(), {fmt::format("-Wl,-rpath,{}:{}", solutions.string(),
                                         (course.folder() / "lib").string()),
                             "-o", program.string()});
  compile(words, exercise, "cannot be linked");
}

/// The file that the launcher locks while it builds.
fs::path build_lock(const Course& course) { return course.build.parent_path() / ".lock"; }

/// "57 %", from the last line of the build tool's output, or "".
std::string build_progress(const Course& course) {
  std::ifstream log(course.build.parent_path() / "release.log");
  Index done = 0, all = 0;
  for (std::string line; std::getline(log, line);) {
    Index first = 0, second = 0;
    if (std::sscanf(line.c_str(), "%td %td ", &first, &second) == 2) done = first, all = second;
  }
  return all > 0 ? fmt::format("{} %", 100 * done / all) : "";
}

/// Waits while a build of another process goes on and the condition holds. Says on stderr for what,
/// and how far that build is.
void wait_while(const Course& course, const std::function<bool()>& condition, const char* why) {
  const bool live = isatty(STDERR_FILENO) == 1;
  bool said = false;
  while (condition() && FileLock::held(build_lock(course))) {
    if (live || !said) {
      print_error("{}{} ... {}{}", said ? "\r" : "", why, build_progress(course),
                  live ? "\x1b[K" : "\n");
      said = true;
    }
    sleep(1);
  }
  if (live && said) print_error("\r\x1b[K");
}

}  // namespace

fs::file_time_type time_of(const fs::path& file) {
  std::error_code missing;
  return fs::last_write_time(file, missing);
}

bool is_linked(const fs::path& file) { return access(file.c_str(), X_OK) == 0; }

FileLock waited_lock(const fs::path& file) {
  while (true) {
    if (std::optional<FileLock> lock = FileLock::if_free(file)) return std::move(*lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::vector<fs::path> shared_libraries(const Course& course, const CoursePrecision& precision) {
  std::vector<fs::path> libraries;
  for (const char* name : {"headroom", "headroom_measure"}) {
    const fs::path library =
        course.folder() / "lib" / fmt::format("lib{}{}.so", name, precision.suffix);
    if (is_linked(library)) libraries.push_back(library);
  }
  return libraries;
}

void wait_for_measure_library(const Course& course, const CoursePrecision& precision) {
  const auto missing = [&] { return shared_libraries(course, precision).size() < 2; };
  wait_while(course, missing, "these checks need libraries that are being built");
  if (!missing()) return;
  throw UsageError(fmt::format(
      "the libraries of the last chapters are not built; {} learn builds them", invocation()));
}

void build_checks(const Course& course, const Exercise& exercise,
                  const CoursePrecision& precision) {
  const fs::path program = checks_program(course, exercise, precision);
  if (is_fresh(program, course, exercise, precision)) return;
  fs::create_directories(program.parent_path());
  const FileLock lock = waited_lock(program.string() + ".lock");
  if (is_fresh(program, course, exercise, precision)) return;  // another process built it
  if (precision.suffix != course_double.suffix) {              // for authors only
    if (exercise.in_pack()) {
      throw UsageError(
          fmt::format("{}: exercises of packs are checked in double only", exercise.id));
    }
    build_target(course, fmt::format("course_{}_checks{}", exercise.target(), precision.suffix));
    // The build tool leaves a program alone whose own files did not change; it is fresh all the
    // same.
    return fs::last_write_time(program, fs::file_time_type::clock::now());
  }
  if (needs_measure_library(course, exercise)) wait_for_measure_library(course, precision);
  const fs::path solutions = course.folder() / ("solutions" + precision.suffix);
  const std::string object = program.string() + ".o";
  in_parallel(2, [&](std::size_t part) {
    if (part == 0) compile_solution(course, exercise, solutions);
    if (part == 1) compile_checks(course, exercise, precision, object);
  });
  // Linked under another name: one that was not linked to its end is not taken for a fresh one.
  const fs::path linked = program.string() + ".new";
  link_checks(course, exercise, precision, object, solutions, linked);
  if (exercise.in_pack()) write_file(note_of_origin(program), exercise.folder.string());
  fs::rename(linked, program);
}

void build_experiment(const Course& course, const std::string& name) {
  const fs::path program = course.folder() / "bin" / name;
  const fs::path source = course.source / "examples/course" / (name + ".cpp");
  // While it is linked anew, an old program would run on new libraries.
  const fs::path library = course.folder() / "lib/libheadroom_measure_f64.so";
  const auto missing = [&] {
    return !is_linked(program) || time_of(program) < std::max(time_of(source), time_of(library));
  };
  wait_while(course, missing, "the programs of the course are being built");
  // While another build goes on, the build tool cannot say more.
  if (!missing() && FileLock::held(build_lock(course))) return;
  if (missing()) print_error("building {} ...\n", name);
  build_target(course, "course_experiment_" + name);
}

void build_target(const Course& course, const std::string& target) {
  const ChildResult built = run_child({"flock", build_lock(course).string(), course.build_tool,
                                       "-C", course.build.string(), target});
  if (built.code == 0) return;
  const fs::path log = course.folder() / "build.log";
  write_file(log, built.out + built.err);
  throw Error(fmt::format("{} could not be built: {}; see {}", target,
                          first_error_line(built.out + built.err), log.string()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
