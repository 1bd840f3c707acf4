// The work behind the prompt.
#include "course/learn_behind.hpp"

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "course/learn_build.hpp"
#include "course/learn_mine.hpp"
#include "course/learn_mistakes.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int low_priority = 10;

/// Ends this process and the compilers that it has started, which then remove their files.
void end_group(int) {
  std::signal(SIGTERM, SIG_DFL);
  kill(0, SIGTERM);
}

/// The mistakes of an exercise, one at a time.
void learn_all_mistakes(const Course& course, const Exercise& exercise) {
  build_checks(course, exercise, course_double);
  for (const CourseAnswer* mistake : unknown_mistakes(course, exercise, course_double)) {
    learn_mistake(course, exercise, course_double, *mistake);
  }
}

}  // namespace

void work_behind(const Course& course, const Workspace& workspace, const Exercise& exercise) {
  [[maybe_unused]] const int priority = nice(low_priority);
  if (setpgid(0, 0) == 0) std::signal(SIGTERM, end_group);
  learn_all_mistakes(course, exercise);
  update_mine(course, workspace);
  measure_mine(course, workspace);
  const Exercise* const next = workspace.next(course, exercise);
  if (next != nullptr) learn_all_mistakes(course, *next);
}

WorkBehind::~WorkBehind() { stop(); }

void WorkBehind::start(const Exercise& exercise) {
  if (goes_on() && exercise_ == exercise.id) return;
  stop();
  exercise_ = exercise.id;
  std::vector<std::string> words{"/proc/self/exe", "learn"};
  if (exercise.in_pack()) {
    words.insert(words.end(), {"--pack", exercise.folder.parent_path().string()});
  }
  words.insert(words.end(), {"behind", exercise.id});
  child_.emplace(words);
}

void WorkBehind::stop() {
  if (!goes_on()) return;
  child_->send(SIGTERM);
  child_->wait();
  child_.reset();
}

bool WorkBehind::goes_on() {
  if (child_ && child_->poll()) child_.reset();
  return child_.has_value();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
