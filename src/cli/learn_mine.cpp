// Links the answers that have passed.
#include "cli/learn_mine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "cli/learn_judge.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The objects of the answers that have passed, in one precision.
fs::path objects(const Workspace& workspace, const CoursePrecision& precision) {
  return workspace.build() / ("passed" + precision.suffix);
}

fs::path shared_library(const Course& course, const CoursePrecision& precision) {
  return course.folder() / "lib" / fmt::format("libheadroom{}.so", precision.suffix);
}

/// Links object files to the learner's library of a precision, in a folder.
void link_mine(const Course& course, const CoursePrecision& precision,
               const std::vector<fs::path>& objects, const fs::path& folder) {
  const std::string name = fmt::format("libmine{}.so", precision.suffix);
  fs::create_directories(folder);
  // Linked under another name first: a program that runs keeps the library that it has loaded.
  const fs::path linked = folder / (name + ".new");
  std::vector<std::string> words{course.compiler, "-shared", "-o", linked.string(),
                                 "-Wl,-soname," + name};
  words.insert(words.end(), course.link_flags.begin(), course.link_flags.end());
  for (const fs::path& object : objects) words.push_back(object.string());
  const ChildResult result = run_child(words);
  if (result.code != 0) {
    throw Error(fmt::format("your functions could not be linked: {}", result.err));
  }
  fs::rename(linked, folder / name);
}

std::vector<fs::path> files_of(const fs::path& folder) {
  return {fs::directory_iterator(folder), fs::directory_iterator()};
}

/// The time of a training step of a small model, in ms, with the learner's library of a folder.
double time_of_step(const Course& course, const fs::path& folder, const char* layout) {
  const fs::path program = course.folder() / "bin" / (is_double ? "headroom-f64" : "headroom");
  const ChildResult timed =
      run_child({"env", "LD_LIBRARY_PATH=" + folder.string(), program.string(), "bench", "step",
                 "--case", "nano", "--layers", "1", "--batch", "2", "--steps", "12", "--layout",
                 layout, "--threads", "1", "--json"});
  if (timed.code != 0) return std::numeric_limits<double>::quiet_NaN();
  return parse_json(timed.out, "bench").value("min_ms", 0.0);
}

/// How many times as long a training step takes with the answer of the folder, in the layout where
/// that is more. Nothing if the program does not run with it.
std::optional<double> step_time(const Course& course, const fs::path& folder) {
  constexpr int rounds = 3;
  double most = 0;
  for (const char* layout : {"fused", "separate"}) {
    double with = std::numeric_limits<double>::infinity(), without = with;
    for (int round = 0; round < rounds; ++round) {  // in turn, since machines change their speed
      with = std::min(with, time_of_step(course, folder, layout));
      without = std::min(without, time_of_step(course, course.folder() / "lib", layout));
    }
    most = std::max(most, with / without);
  }
  return std::isfinite(most) ? std::optional(most) : std::nullopt;
}

/// The functions that a library exports: mangled names from `nm`.
std::set<std::string> exports(const fs::path& library) {
  const ChildResult listed =
      run_child({"nm", "-D", "--defined-only", "--format=just-symbols", library.string()});
  std::istringstream lines(listed.out);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) names.insert(line);
  return names;
}

/// "headroom::f64::FusedHeads::project(headroom::f64::Tensor const&, ...) const" as
/// "FusedHeads::project".
std::string short_name(std::string name) {
  name = name.substr(0, name.find('('));
  for (const std::string_view part : {"headroom::", "f64::", "f32::"}) {
    for (std::size_t at; (at = name.find(part)) != std::string::npos;) name.erase(at, part.size());
  }
  return name;
}

}  // namespace

fs::path folder_of_mine(const Workspace& workspace) { return workspace.build() / "mine"; }

void add_to_mine(const Course& course, const Workspace& workspace, const Exercise& exercise) {
  for (const CoursePrecision* precision : {&course_double, &course_float}) {
    if (!fs::exists(shared_library(course, *precision))) continue;  // not built
    const fs::path folder = workspace.build() / ("answer" + precision->suffix);
    if (precision == &course_float) {  // the check has compiled the answer in double
      std::string warnings;
      const std::string error = compile_answer(course, exercise, *precision,
                                               workspace.answer(exercise), folder, warnings);
      if (!error.empty()) {
        throw Error(fmt::format("{} does not compile in float: {}", exercise.id, error));
      }
    }
    const fs::path kept = objects(workspace, *precision);
    fs::create_directories(kept);
    fs::copy_file(folder / (exercise.target() + ".o"), kept / (exercise.target() + ".o"),
                  fs::copy_options::overwrite_existing);
    link_mine(course, *precision, files_of(kept), folder_of_mine(workspace));
  }
}

void measure_mine(const Course& course, Workspace& workspace, const Exercise& exercise) {
  const CoursePrecision& own = is_double ? course_double : course_float;
  const fs::path alone = workspace.build() / "alone";
  link_mine(course, own, {objects(workspace, own) / (exercise.target() + ".o")}, alone);
  workspace.of(exercise).step_time = step_time(course, alone);
  workspace.save();
}

std::vector<OwnFunction> functions_of_mine(const Course& course, const Workspace& workspace) {
  const fs::path library = folder_of_mine(workspace) / "libmine_f64.so";
  if (!fs::exists(library)) return {};
  const std::set<std::string> mine = exports(library),
                              headroom = exports(shared_library(course, course_double));
  std::vector<std::string> both;
  std::set_intersection(mine.begin(), mine.end(), headroom.begin(), headroom.end(),
                        std::back_inserter(both));
  std::string mangled;
  for (const std::string& name : both) mangled += name + "\n";
  std::istringstream lines(run_child({"c++filt"}, mangled).out);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    // Answers also contain copies of inline functions of the standard library.
    if (line.starts_with("headroom::")) names.insert(short_name(line));
  }
  std::vector<OwnFunction> functions;
  for (const std::string& name : names) {
    functions.push_back({name, {}});
    for (const Exercise& exercise : course.exercises) {
      const auto state = workspace.state.exercises.find(exercise.id);
      if (state == workspace.state.exercises.end()) continue;
      if (exercise.master.replaces.find("headroom::" + name) == std::string::npos) continue;
      functions.back().step_time = state->second.step_time;
    }
  }
  for (const Exercise& exercise : course.exercises) {
    const bool own = exercise.master.replaces.empty() && exercise.master.begins_empty();
    const fs::path object = objects(workspace, course_double) / (exercise.target() + ".o");
    if (own && fs::exists(object)) functions.push_back({exercise.master.title, {}});
  }
  return functions;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
