// The course: its exercises, and the build that the runner uses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "course/learn_master.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An exercise of the course.
struct Exercise {
  std::string id;       // "07/1"
  std::string chapter;  // "07_one_big_linear", a folder of chapters/
  std::string file;     // "1_project"
  MasterFile master;

  /// "07_1", part of the names of its targets and files in the build.
  std::string target() const { return id.substr(0, 2) + "_" + id.substr(3); }
  /// "07/1 FusedHeads::project"
  std::string text() const { return id + " " + master.title; }
};

/// The exercises and the folders of the build, as CMake wrote them to course.json.
struct Course {
  std::filesystem::path source, build;
  std::string compiler, build_tool;
  std::vector<std::string> flags, link_flags;  // of answers
  std::vector<std::string> experiments;        // of examples/
  std::vector<Exercise> exercises;

  /// build/RELEASE/course
  std::filesystem::path folder() const { return build / "course"; }
  std::filesystem::path chapter(const Exercise& exercise) const {
    return source / "chapters" / exercise.chapter;
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
  std::vector<std::string> sanitizers = {};  // flags for the answer alone
};
extern const CoursePrecision course_double, course_float;
/// Answers in double that are compiled with the address sanitizer and the undefined one.
extern const CoursePrecision course_sanitized;

/// libheadroom.so or libheadroom_f64.so
std::filesystem::path shared_library(const Course& course, const CoursePrecision& precision);
/// The program with the checks of an exercise.
std::filesystem::path checks_program(const Course& course, const Exercise& exercise,
                                     const CoursePrecision& precision);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
