// The work that no verdict waits for. The watching runner has a child process do it.
#pragma once

#include <optional>

#include "course/learn_workspace.hpp"
#include "headroom/io/child_program.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Does this work for an exercise, in this order: the mistakes that are not known
/// (learn_mistakes.hpp), the learner's functions for programs and their times (learn_mine.hpp), the
/// checks and the mistakes of the next exercise. Lowers the priority of this process.
void work_behind(const Course& course, const Workspace& workspace, const Exercise& exercise);

/// The child process, `headroom-learn learn behind EXERCISE`. It ends with this object, and what it
/// has done is kept.
class WorkBehind {
 public:
  WorkBehind() = default;
  WorkBehind(const WorkBehind&) = delete;
  WorkBehind& operator=(const WorkBehind&) = delete;
  ~WorkBehind();

  /// Starts the work for an exercise, in place of that for another one. Does nothing if it is at
  /// work on this one.
  void start(const Exercise& exercise);
  /// Ends it: the next verdict gets both processors. Returns when it has ended.
  void stop();
  /// Whether it is at work.
  bool goes_on();

 private:
  std::string exercise_;
  std::optional<ChildProgram> child_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
