// Reads course.json and the master files.
#include "cli/learn_course.hpp"

#include <fmt/format.h>

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
  std::vector<std::string> flags, link_flags, experiments, exercises;

  template <class Visit>
  static void fields(Visit visit) {
    visit("source", &CourseFile::source);
    visit("build", &CourseFile::build);
    visit("compiler", &CourseFile::compiler);
    visit("build_tool", &CourseFile::build_tool);
    visit("flags", &CourseFile::flags);
    visit("link_flags", &CourseFile::link_flags);
    visit("exercises", &CourseFile::exercises);
    visit("experiments", &CourseFile::experiments);
  }
};

/// build/release/bin/headroom and build/release/course/bin/headroom: one build.
fs::path course_file() {
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path beside = bin.parent_path() / "course.json";
  return fs::exists(beside) ? beside : bin.parent_path() / "course" / "course.json";
}

}  // namespace

const CoursePrecision course_double{"_f64", {"-DHEADROOM_PRECISION=f64", "-DHEADROOM_DOUBLE"}};
const CoursePrecision course_float{"", {"-DHEADROOM_PRECISION=f32"}};
const CoursePrecision course_sanitized{
    course_double.suffix,
    course_double.definitions,
    {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}};

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
  Course course{file.source, file.build,      file.compiler,    file.build_tool,
                file.flags,  file.link_flags, file.experiments, {}};
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

const Exercise& Course::exercise(const std::string& id) const {
  std::vector<std::string> ids;
  for (const Exercise& exercise : exercises) {
    if (exercise.id == id) return exercise;
    ids.push_back(exercise.id);
  }
  throw UsageError(fmt::format("there is no exercise \"{}\"{}; {} learn list shows them", id,
                               did_you_mean(id, ids), invocation()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
