// The work behind the prompt.
#include "course/learn_behind.hpp"

#include <unistd.h>

#include <string>
#include <vector>

#include "course/learn_build.hpp"
#include "course/learn_mine.hpp"
#include "course/learn_mistakes.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int low_priority = 10;

/// The mistakes of an exercise, one at a time: the other processor is the next verdict's.
void learn_all_mistakes(const Course& course, const Exercise& exercise) {
  build_checks(course, exercise, course_double);
  for (const CourseAnswer* mistake : unknown_mistakes(course, exercise, course_double)) {
    learn_mistake(course, exercise, course_double, *mistake);
  }
}

}  // namespace

void work_behind(const Course& course, const Workspace& workspace, const Exercise& exercise) {
  [[maybe_unused]] const int priority = nice(low_priority);
  learn_all_mistakes(course, exercise);
  update_mine(course, workspace);
  measure_mine(course, workspace);
  const Exercise* const next = workspace.next(course, exercise);
  if (next != nullptr) learn_all_mistakes(course, *next);
}

void WorkBehind::start(const Exercise& exercise) {
  if (goes_on() && exercise_ == exercise.id) return;
  exercise_ = exercise.id;
  std::vector<std::string> words{"/proc/self/exe", "learn"};
  if (exercise.in_pack()) {
    words.insert(words.end(), {"--pack", exercise.folder.parent_path().string()});
  }
  words.insert(words.end(), {"behind", exercise.id});
  child_.emplace(words);
}

bool WorkBehind::goes_on() {
  if (child_ && child_->poll()) child_.reset();
  return child_.has_value();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
