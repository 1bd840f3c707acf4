// The course with its packs, and the commands of authors.
#include "course/learn_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/streams.hpp"
#include "course/learn_pack.hpp"
#include "course/learn_place.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The course with the exercises and texts of some packs.
Course course_with(const std::vector<std::string>& packs) {
  Course course = load_course();
  for (const std::string& folder : packs) add_pack(course, read_pack(folder));
  return course;
}

int add_remembered(Session& session, const LearnOptions& options) {
  if (options.folder.empty()) throw UsageError("learn pack add needs the folder of a pack");
  const Pack pack = read_pack(options.folder);
  std::vector<std::string>& packs = session.workspace.state.packs;
  if (std::find(packs.begin(), packs.end(), pack.folder.string()) == packs.end()) {
    add_pack(session.course, pack);  // refuses one that cannot be used
    packs.push_back(pack.folder.string());
    session.workspace.save();
    session.workspace.write_compile_flags(session.course);
  }
  fmt::print("{} is used from now on: {} learn list\n", pack.facts.name, invocation());
  return 0;
}

int remove_remembered(Session& session, const LearnOptions& options) {
  std::vector<std::string>& packs = session.workspace.state.packs;
  const auto is_meant = [&](const std::string& folder) {
    if (fs::path(folder) == fs::absolute(options.folder).lexically_normal()) return true;
    return fs::exists(fs::path(folder) / "pack.json")
               ? read_pack(folder).facts.name == options.folder
               : fs::path(folder).filename() == options.folder;
  };
  const auto found = std::find_if(packs.begin(), packs.end(), is_meant);
  if (found == packs.end()) {
    throw UsageError(fmt::format("no pack \"{}\" is used; {} learn pack lists them", options.folder,
                                 invocation()));
  }
  fmt::print("{} is not used any more; your answers stay in the workspace.\n", shown(*found));
  packs.erase(found);
  session.workspace.save();
  return 0;
}

}  // namespace

Session::Session(const LearnOptions& options) {
  std::vector<std::string> packs;
  for (const std::string& folder : workspace.state.packs) {
    if (fs::exists(fs::path(folder) / "pack.json")) {
      packs.push_back(folder);
    } else {
      print_error("The pack {0} is not there any more; {1} learn pack remove {0}\n",
                  shown(folder, stderr), invocation());
    }
  }
  for (const std::string& folder : options.packs) {
    const std::string whole = read_pack(folder).folder.string();
    if (std::find(packs.begin(), packs.end(), whole) == packs.end()) packs.push_back(whole);
  }
  for (const std::string& folder : packs) add_pack(course, read_pack(folder));
  workspace.write_compile_flags(course);
}

const Exercise& Session::exercise(const std::string& id) const {
  if (!id.empty()) return course.exercise(id);
  const Exercise* current = workspace.current(course);
  if (current == nullptr) {
    throw UsageError(fmt::format("all exercises are done; {} learn list shows them", invocation()));
  }
  return *current;
}

int generate(const LearnOptions& options) {
  // Only an exercise of a pack needs the packs that the workspace remembers.
  const bool of_pack = options.id.find(':') != std::string::npos;
  const Course course = of_pack ? Session(options).course : course_with(options.packs);
  for (const fs::path& file : write_answers(course.exercise(options.id), options.folder)) {
    fmt::print("{}\n", shown(file.string()));
  }
  return 0;
}

int try_all(const LearnOptions& options) {
  const Course course = course_with(options.packs);
  if (options.trial.part < 0 || options.trial.part >= options.trial.parts) {
    throw UsageError(fmt::format("--part {} must be 0 to {} with --parts {}", options.trial.part,
                                 options.trial.parts - 1, options.trial.parts));
  }
  TrialOptions trial = options.trial;
  if (options.sanitize) trial.solutions_only = true;  // wrong answers may crash on purpose
  const CoursePrecision& precision = options.sanitize   ? course_sanitized
                                     : options.in_float ? course_float
                                                        : course_double;
  return try_answers(course, precision, trial) ? 0 : not_passed;
}

int pack_command(const LearnOptions& options) {
  Session session(options);
  if (options.value == "add") return add_remembered(session, options);
  if (options.value == "remove") return remove_remembered(session, options);
  if (!options.value.empty()) {
    throw UsageError(fmt::format("learn pack {}: it must be add or remove", options.value));
  }
  for (const std::string& folder : session.workspace.state.packs) {
    if (!fs::exists(fs::path(folder) / "pack.json")) continue;
    const Pack pack = read_pack(folder);
    fmt::print("{}  {} ({})  {}\n", pack.facts.name, shown(pack.facts.title), pack.facts.language,
               shown(folder));
  }
  if (session.workspace.state.packs.empty()) {
    fmt::print("No packs are used; {} learn pack add FOLDER adds one.\n", invocation());
  }
  return 0;
}

int new_pack(const LearnOptions& options) {
  const fs::path folder = options.folder.empty() ? options.value : options.folder;
  write_new_pack(options.value, folder);
  const std::string path = shown(short_path(fs::absolute(folder)));
  fmt::print(
      "{0} has one exercise that works. Change it, and try it:\n"
      "  {1} learn check-pack {0}\n  {1} learn --pack {0} {2}:01/1\n",
      path, invocation(), options.value);
  return 0;
}

int check_pack(const LearnOptions& options) {
  Course course = course_with(options.packs);  // that a translation may need
  const std::size_t before = course.exercises.size();
  const Pack pack = read_pack(options.folder);
  add_pack(course, pack);
  const std::vector<std::string> missing = missing_texts(course, pack);
  for (const std::string& line : missing) fmt::print("missing  {}\n", shown(line));
  bool right = missing.empty();
  if (!pack.translation()) {
    TrialOptions trial;
    for (std::size_t i = before; i < course.exercises.size(); ++i) {
      trial.ids.push_back(course.exercises[i].id);
    }
    right = try_answers(course, course_double, trial) && right;
  }
  fmt::print("{} texts are missing\n", missing.size());
  return right ? 0 : not_passed;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
