// The learner's files.
#include "course/learn_workspace.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

fs::path state_file(const fs::path& folder) { return folder / "state.json"; }

fs::path workspace_folder(const Course& course) {
  const char* own = std::getenv("HEADROOM_WORKSPACE");
  return own != nullptr && *own != '\0' ? fs::absolute(own) : course.source / "workspace";
}

}  // namespace

Workspace::Workspace(const Course& course) : folder_(workspace_folder(course)) {
  fs::create_directories(build());
  reload();
}

void Workspace::reload() {
  const fs::path file = state_file(folder_);
  if (!fs::exists(file)) return;
  const Record record = parse_json(read_file(file), file.string());
  const bool has_version = record.is_object() && record.contains("version");
  const Index version = has_version ? json_integer(record, "version", file.string()) : 0;
  if (version > CourseState::current_version) {
    throw DataError(
        fmt::format("{}: version {} of the workspace, but this program knows only {}; "
                    "use a newer headroom, or another workspace (HEADROOM_WORKSPACE)",
                    file.string(), version, CourseState::current_version));
  }
  state = struct_of<CourseState>(record, file.string());
}

void Workspace::write_compile_flags(const Course& course) const {
  std::string text;
  for (const std::string& flag : course.flags) text += flag + "\n";
  text += "-Wno-unused\n";
  for (const std::string& flag : course_double.definitions) text += flag + "\n";
  for (const char* path : {"include", "chapters"}) {
    text += fmt::format("-I{}\n", (course.source / path).string());
  }
  std::string last;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == last) continue;
    last = exercise.chapter;
    text += fmt::format("-I{}\n", course.chapter(exercise).string());
  }
  const fs::path file = folder_ / "compile_flags.txt";
  if (!fs::exists(file) || read_file(file) != text) write_file(file, text);
}

fs::path Workspace::answer(const Exercise& exercise) const {
  const fs::path chapters = exercise.in_pack() ? folder_ / "packs" : folder_;
  return chapters / exercise.chapter / (exercise.file + ".cpp");
}

bool Workspace::begin(const Exercise& exercise) {
  const fs::path file = answer(exercise);
  if (fs::exists(file)) return false;
  fs::create_directories(file.parent_path());
  write_file(file, exercise.master.skeleton().code);
  return true;
}

fs::path Workspace::reset(const Exercise& exercise) {
  const fs::path file = answer(exercise);
  fs::path kept;
  if (fs::exists(file)) {
    for (Index number = 1; kept.empty() || fs::exists(kept); ++number) {
      kept = fmt::format("{}.{}", file.string(), number);
    }
    fs::rename(file, kept);
  }
  begin(exercise);
  return kept;
}

void Workspace::save() const { write_file(state_file(folder_), json_of(state).dump(2) + "\n"); }

const Exercise* Workspace::current(const Course& course) const {
  for (const Exercise& exercise : course.exercises) {
    if (exercise.id == state.current) return &exercise;
  }
  for (const Exercise& exercise : course.exercises) {
    const auto known = state.exercises.find(exercise.id);
    if (known == state.exercises.end() || !known->second.passed) return &exercise;
  }
  return nullptr;
}

const Exercise* Workspace::next(const Course& course, const Exercise& exercise) const {
  bool after = false;
  for (const Exercise& other : course.exercises) {
    const auto known = state.exercises.find(other.id);
    if (after && (known == state.exercises.end() || !known->second.passed)) return &other;
    after = after || other.id == exercise.id;
  }
  return nullptr;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
