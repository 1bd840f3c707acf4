// The course: its exercises, and the build that the runner uses.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "course/learn_master.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An exercise of the course.
struct Exercise {
  std::string id;       // "07/1"; "sums:01/1" in the pack sums
  std::string chapter;  // "07_one_big_linear", a folder of chapters/; "sums/01_first"
  std::string file;     // "1_project"
  MasterFile master;
  std::filesystem::path folder = {};  // of its chapter, if it is in a pack (course/learn_pack.hpp)
  std::filesystem::path texts = {};   // of its chapter in a translation
  std::map<std::string, std::string> sentences = {};  // of the checks -> of the translation

  bool in_pack() const { return !folder.empty(); }
  /// "07" or "sums:01"
  std::string part() const { return id.substr(0, id.rfind('/')); }
  /// "07_1" or "sums_01_1", part of the names of its targets and files in the build.
  std::string target() const;
  /// "07/1 FusedHeads::project"
  std::string text() const { return id + " " + master.title; }
};

/// The exercises and the folders of the build, as CMake wrote them to course.json.
struct Course {
  std::filesystem::path source, build;
  std::string compiler, build_tool;
  std::vector<std::string> flags, link_flags;               // of answers
  std::vector<std::string> experiments;                     // of examples/
  std::vector<std::string> checks_flags, checks_libraries;  // that checks are compiled, linked with
  std::vector<Exercise> exercises;

  /// build/RELEASE/course
  std::filesystem::path folder() const { return build / "course"; }
  std::filesystem::path chapter(const Exercise& exercise) const {
    return exercise.in_pack() ? exercise.folder : source / "chapters" / exercise.chapter;
  }
  /// The folder of README.md and ask.json: the chapter's, or that of a translation.
  std::filesystem::path texts(const Exercise& exercise, const char* file) const {
    const std::filesystem::path translated = exercise.texts / file;
    return !exercise.texts.empty() && std::filesystem::exists(translated) ? exercise.texts
                                                                          : chapter(exercise);
  }
  /// The exercise of an id, "07/1" or "7/1", or of a function, "FusedHeads::project" or "project".
  /// Throws UsageError naming the nearest one, or those with a function of that name.
  const Exercise& exercise(const std::string& name) const;
};

/// The course of the build that this program belongs to. Throws UsageError if that has none.
Course load_course();

/// A precision of answers and checks: the suffix of targets and files, and compiler flags.
struct CoursePrecision {
  std::string suffix;
  std::vector<std::string> definitions;
  std::string optimisation;                  // of answers, "-O1"
  std::vector<std::string> sanitizers = {};  // flags for the answer alone

  /// A precompiled header for answers: "answer_f64-O0.hpp".
  std::string header(const std::string& name) const {
    return name + suffix + optimisation + ".hpp";
  }
};
/// Answers to be checked, which compile faster without optimisation.
extern const CoursePrecision course_double;
/// The same with the address sanitizer and the undefined one.
extern const CoursePrecision course_sanitized;
/// Answers that have passed, for programs in double and in float.
extern const CoursePrecision kept_double, course_float;

/// The program with the checks of an exercise.
std::filesystem::path checks_program(const Course& course, const Exercise& exercise,
                                     const CoursePrecision& precision);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
