// Packs: exercises, or translated texts, in a folder outside of the repository.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "course/learn_course.hpp"
#include "headroom/base/listed.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// pack.json
struct PackFile {
  std::string name, title, language;
  std::string translates = {};  // "course" or the name of a pack: a translation of its texts

  using T = PackFile;
  using Fields = Listed<&T::name, &T::title, &T::language, if_any<&T::translates>>;
};

/// A pack: chapters such as 01_first, each with the files of a chapter of the course. A translation
/// has in folders of the same names as the chapters README.md, ask.json and texts.json.
struct Pack {
  std::filesystem::path folder;
  PackFile facts;

  bool translation() const { return !facts.translates.empty(); }
};

/// The texts of an exercise in another language: texts.json has them by file, "1_project".
struct ExerciseTexts {
  std::string title, after = {};
  std::vector<std::string> hints;
  std::map<std::string, std::string> sentences;  // of the mistakes, by their names

  using T = ExerciseTexts;
  using Fields = Listed<&T::title, if_any<&T::after>, &T::hints, &T::sentences>;
};

/// Throws UsageError for a name that cannot be that of a pack.
void check_pack_name(const std::string& name);

/// Reads pack.json. Throws UsageError with the remedy if there is none, and DataError.
Pack read_pack(const std::filesystem::path& folder);

/// Adds the exercises of a pack to the course, or puts a translation in place of its texts. Throws
/// DataError if the pack has none, or its name is there already.
void add_pack(Course& course, const Pack& pack);

/// texts.json of a chapter of a translation; empty if there is none.
std::map<std::string, ExerciseTexts> read_texts(const std::filesystem::path& chapter);

/// Writes a pack with one exercise that works. Throws UsageError if the folder is not empty.
void write_new_pack(const std::string& name, const std::filesystem::path& folder);

/// The texts that a pack lacks, a line for each. The pack has been added to the course.
std::vector<std::string> missing_texts(const Course& course, const Pack& pack);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
