// Difficulty and discrimination of the exercises over several learners, for teachers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "course/learn_attempts.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One learner's workspace.
struct CourseLearner {
  std::string folder;
  std::vector<AttemptEvent> events;
};

/// Reads the attempts of workspaces. Throws UsageError for a folder without attempts.json.
std::vector<CourseLearner> read_learners(const std::vector<std::string>& folders);

/// An exercise over all learners.
struct ExerciseItem {
  std::string exercise, title;
  Index began = 0;                    // learners who began it
  std::optional<double> solved = {};  // their share that solved it: the difficulty
  std::optional<double> discrimination =
      {};                               // correlation with the share of other exercises solved
  std::optional<double> attempts = {};  // median number up to the pass, of those who solved it
  std::string before_pass = {};         // the most frequent diagnosis of the attempt before it
  Index stopped = 0;                    // learners who did nothing after it and have not solved it

  using T = ExerciseItem;
  using Fields = Listed<&T::exercise, &T::title, &T::began, &T::solved, &T::discrimination,
                        &T::attempts, &T::before_pass, &T::stopped>;
};

/// The exercises that somebody began, in the order of the course. The discrimination of an exercise
/// is the point-biserial correlation between solving it and the share solved of all other exercises
/// (rest score), over the learners who began it. There is none for fewer than five of them, or if
/// all did the same.
std::vector<ExerciseItem> exercise_items(const Course& course,
                                         const std::vector<CourseLearner>& learners);

Table table_of(const std::vector<ExerciseItem>& items);
std::string items_text(const std::vector<ExerciseItem>& items, std::size_t learners,
                       const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
