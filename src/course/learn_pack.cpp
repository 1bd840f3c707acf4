// Reads packs.
#include "course/learn_pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The folders of chapters, "01_first", in their order.
std::vector<fs::path> chapters_of(const fs::path& folder) {
  std::vector<fs::path> chapters;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.size() > 3 && is_digit(name[0]) && is_digit(name[1]) &&
        name[2] == '_') {
      chapters.push_back(entry.path());
    }
  }
  std::sort(chapters.begin(), chapters.end());
  return chapters;
}

/// The exercises of a chapter, "1_double": those with a file of checks.
std::vector<std::string> exercises_of(const fs::path& chapter) {
  constexpr std::string_view checks = "_checks.cpp";
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(chapter)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > checks.size() + 2 && name.ends_with(checks) && is_digit(name[0]) &&
        name[1] == '_') {
      files.push_back(name.substr(0, name.size() - checks.size()));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add_exercises(Course& course, const Pack& pack) {
  const std::size_t before = course.exercises.size();
  for (const Exercise& exercise : course.exercises) {
    if (exercise.id.starts_with(pack.facts.name + ":")) {
      throw DataError(fmt::format("{}: a pack with the name {} is used already",
                                  pack.folder.string(), pack.facts.name));
    }
  }
  for (const fs::path& chapter : chapters_of(pack.folder)) {
    const std::string name = chapter.filename().string();
    for (const std::string& file : exercises_of(chapter)) {
      Exercise exercise{fmt::format("{}:{}/{}", pack.facts.name, name.substr(0, 2), file[0]),
                        pack.facts.name + "/" + name, file, read_master(chapter / (file + ".cpp"))};
      exercise.folder = chapter;
      course.exercises.push_back(std::move(exercise));
    }
  }
  if (course.exercises.size() == before) {
    throw DataError(fmt::format(
        "{}: the pack has no exercise: a chapter such as 01_first has 1_NAME.cpp, 1_NAME.hpp and "
        "1_NAME_checks.cpp",
        pack.folder.string()));
  }
}

void translate(Course& course, const Pack& pack) {
  bool any = false;
  for (Exercise& exercise : course.exercises) {
    const std::string of =
        exercise.in_pack() ? exercise.id.substr(0, exercise.id.find(':')) : "course";
    const fs::path chapter = pack.folder / course.chapter(exercise).filename();
    if (of != pack.facts.translates || !fs::exists(chapter)) continue;
    any = true;
    exercise.texts = chapter;
    const auto all = read_texts(chapter);
    const auto own = all.find(exercise.file);
    if (own == all.end()) continue;
    MasterFile& master = exercise.master;
    if (!own->second.title.empty()) master.title = own->second.title;
    if (!own->second.after.empty()) master.after = own->second.after;
    if (!own->second.hints.empty()) master.hints = own->second.hints;
    for (const CourseAnswer& answer : master.answers) {
      const auto sentence = own->second.sentences.find(answer.name);
      if (sentence == own->second.sentences.end() || answer.promised.empty()) continue;
      exercise.sentences[answer.promised] = sentence->second;
    }
  }
  if (!any) {
    throw DataError(
        fmt::format("{}: translates \"{}\", but has no folder with the name of one of its "
                    "chapters; a pack that "
                    "it translates must be used, too (--pack FOLDER before the command)",
                    pack.folder.string(), pack.facts.translates));
  }
}

}  // namespace

void check_pack_name(const std::string& name) {
  const bool valid = name.size() >= 2 && name[0] >= 'a' && name[0] <= 'z' && name != "course" &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
                     });
  if (!valid) {
    throw UsageError(fmt::format(
        "\"{}\" cannot be the name of a pack: it has at least two of a to z, 0 to 9 and _, and "
        "begins with a letter",
        name));
  }
}

Pack read_pack(const fs::path& folder) {
  const fs::path file = folder / "pack.json";
  if (!fs::exists(file)) {
    throw UsageError(
        fmt::format("{} is not a pack: it has no pack.json; {} learn new NAME makes one",
                    folder.string(), invocation()));
  }
  Pack pack{fs::absolute(folder).lexically_normal(),
            struct_of<PackFile>(parse_json(read_file(file), file.string()), file.string())};
  if (pack.folder.filename().empty()) pack.folder = pack.folder.parent_path();  // "sums/"
  check_pack_name(pack.facts.name);
  return pack;
}

void add_pack(Course& course, const Pack& pack) {
  if (pack.translation()) {
    translate(course, pack);
  } else {
    add_exercises(course, pack);
  }
}

std::map<std::string, ExerciseTexts> read_texts(const fs::path& chapter) {
  const fs::path file = chapter / "texts.json";
  if (!fs::exists(file)) return {};
  return struct_of<std::map<std::string, ExerciseTexts>>(parse_json(read_file(file), file.string()),
                                                         file.string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
