// The learner's files: answers, and the state of the course.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "course/learn_course.hpp"
#include "headroom/base/listed.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The learner's progress in one exercise.
struct ExerciseState {
  bool passed = false;    // once; a later mistake does not take it back
  bool given_up = false;  // the solution was shown first
  Index hints = 0;        // number of hints that were shown
  /// In states of earlier versions. Nothing uses it: times are in files (learn_mine.hpp).
  std::optional<double> step_time = {};

  using T = ExerciseState;
  using Fields = Listed<&T::passed, &T::given_up, &T::hints, if_any<&T::step_time>>;
};

/// workspace/state.json
struct CourseState {
  static constexpr Index current_version = 1;
  Index version = current_version;
  std::string current;  // the id of the exercise that `learn` shows next
  std::map<std::string, ExerciseState> exercises;
  std::map<std::string, std::string> predictions;  // "07/a": "1e-8"
  std::map<std::string, double> measured = {};     // what an experiment showed beside them
  std::map<std::string, Index> questions = {};     // "07/1": the option that was chosen, from 1
  std::string attempts = {};                       // "off" if attempts.json is not to be written
  std::vector<std::string> packs = {};             // their folders (course/learn_pack.hpp)

  using T = CourseState;
  using Fields =
      Listed<&T::version, &T::current, &T::exercises, &T::predictions, if_any<&T::measured>,
             if_any<&T::questions>, if_any<&T::attempts>, if_any<&T::packs>>;
};

/// The folder workspace/ of the checkout, or HEADROOM_WORKSPACE. Git ignores it, and nothing but
/// the learner's own commands changes an answer in it. Every function throws FileError.
class Workspace {
 public:
  /// Reads the state. Throws DataError for one that is broken or of a later version.
  explicit Workspace(const Course& course);

  /// Reads the state again, before it is changed: other commands may have changed it since.
  void reload();

  /// Lets an editor with clangd read the answers. What a skeleton does not use yet is no mistake;
  /// the compiler of the checks warns of it later.
  void write_compile_flags(const Course& course) const;

  /// The learner's file; exists after begin().
  std::filesystem::path answer(const Exercise& exercise) const;
  /// Puts the skeleton there, unless the learner has a file. Returns whether it did.
  bool begin(const Exercise& exercise);
  /// Puts the skeleton there; the learner's file is kept as NAME.cpp.1, .2, ... Returns that name,
  /// empty if there was no file.
  std::filesystem::path reset(const Exercise& exercise);

  /// The folder of compiled answers, which may be deleted at any time.
  std::filesystem::path build() const { return folder_ / ".build"; }
  const std::filesystem::path& folder() const { return folder_; }

  CourseState state;
  ExerciseState& of(const Exercise& exercise) { return state.exercises[exercise.id]; }
  /// Replaces state.json as a whole.
  void save() const;

  /// The exercise to do now: the current one, or the first that is not passed; nullptr after the
  /// last one.
  const Exercise* current(const Course& course) const;
  /// The next exercise after `exercise` that is not passed; nullptr if there is none.
  const Exercise* next(const Course& course, const Exercise& exercise) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
