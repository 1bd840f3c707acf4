// Reads course.json and the master files.
#include "course/learn_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// course.json, which chapters/CMakeLists.txt writes.
struct CourseFile {
  std::string source, build, compiler, build_tool;
  std::vector<std::string> flags, link_flags, experiments, exercises, checks_flags,
      checks_libraries;

  using T = CourseFile;
  using Fields =
      Listed<&T::source, &T::build, &T::compiler, &T::build_tool, &T::flags, &T::link_flags,
             &T::exercises, &T::experiments, &T::checks_flags, &T::checks_libraries>;
};

/// build/release/bin/headroom and build/release/course/bin/headroom: one build.
fs::path course_file() {
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path beside = bin.parent_path() / "course.json";
  return fs::exists(beside) ? beside : bin.parent_path() / "course" / "course.json";
}

/// The names of an exercise: id, title, the function that it replaces; then the parts of the last
/// two, "project" of "FusedHeads::project" and "tanh" of "operator* and tanh".
std::vector<std::string> exercise_names(const Exercise& exercise) {
  std::string function = exercise.master.replaces;
  if (function.starts_with("headroom::")) function.erase(0, 10);
  std::vector<std::string> names{exercise.id, exercise.master.title, function};
  for (const std::string& text : {names[1], names[2]}) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      names.push_back(word);
      const std::size_t colon = word.rfind("::");
      if (colon != std::string::npos) names.push_back(word.substr(colon + 2));
    }
  }
  return names;
}

}  // namespace

const CoursePrecision course_double{
    "_f64", {"-DHEADROOM_PRECISION=f64", "-DHEADROOM_DOUBLE"}, "-O0"};
const CoursePrecision course_sanitized{
    course_double.suffix,
    course_double.definitions,
    "-O1",
    {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}};
const CoursePrecision kept_double{course_double.suffix, course_double.definitions, "-O1"};
const CoursePrecision course_float{"", {"-DHEADROOM_PRECISION=f32"}, "-O1"};

Course load_course() {
  const fs::path path = course_file();
  if (!fs::exists(path)) {
    throw UsageError(
        fmt::format("the course is not built: there is no {} (./headroom learn builds "
                    "it; with CMake: -DHEADROOM_COURSE=ON, target headroom_course)",
                    path.string()));
  }
  const auto file =
      struct_of<CourseFile>(parse_json(read_file(path), path.string()), path.string());
  if (file.checks_libraries.empty()) {
    throw UsageError(
        "the course needs the library in double, which this build does not have; with CMake: "
        "-DHEADROOM_PRECISIONS=\"f32;f64\"");
  }
  Course course{
      file.source,     file.build,       file.compiler,     file.build_tool,       file.flags,
      file.link_flags, file.experiments, file.checks_flags, file.checks_libraries, {}};
  for (const std::string& name : file.exercises) {
    const std::size_t slash = name.find('/');
    Exercise exercise{name.substr(0, 2) + "/" + name.substr(slash + 1, 1),
                      name.substr(0, slash),
                      name.substr(slash + 1),
                      {}};
    exercise.master = read_master(course.source / "chapters" / (name + ".cpp"));
    course.exercises.push_back(std::move(exercise));
  }
  return course;
}

std::string Exercise::target() const {
  std::string text = id;
  for (char& c : text) {
    if (c == '/' || c == ':') c = '_';
  }
  return text;
}

const Exercise& Course::exercise(const std::string& name) const {
  const std::string id = name.size() == 3 && name[1] == '/' ? "0" + name : name;
  std::vector<std::string> known;
  std::vector<const Exercise*> same, similar;  // by a whole name, and by a part of one
  for (const Exercise& exercise : exercises) {
    if (exercise.id == id) return exercise;
    const std::vector<std::string> names = exercise_names(exercise);
    known.insert(known.end(), names.begin(), names.end());
    if (std::find(names.begin(), names.begin() + 3, name) != names.begin() + 3) {
      same.push_back(&exercise);
    } else if (std::find(names.begin() + 3, names.end(), name) != names.end()) {
      similar.push_back(&exercise);
    }
  }
  const std::vector<const Exercise*>& found = same.empty() ? similar : same;
  if (found.size() == 1) return *found[0];
  if (found.empty()) {
    throw UsageError(fmt::format("there is no exercise \"{}\"{}; {} learn list shows them", name,
                                 did_you_mean(id, known), invocation()));
  }
  std::string all;
  for (const Exercise* exercise : found) all += (all.empty() ? "" : ", ") + exercise->text();
  throw UsageError(fmt::format("\"{}\" may be {}: give the number of the exercise", name, all));
}

fs::path checks_program(const Course& course, const Exercise& exercise,
                        const CoursePrecision& precision) {
  return course.folder() / ("checks" + precision.suffix) / (exercise.target() + "_checks");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
