// Compares the exercises over several learners.
#include "course/learn_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t fewest = 5;  // learners for a correlation

bool solved(const CourseLearner& learner, const std::string& exercise) {
  return std::any_of(learner.events.begin(), learner.events.end(), [&](const AttemptEvent& event) {
    return event.exercise == exercise && event.passed.value_or(false);
  });
}

bool began(const CourseLearner& learner, const std::string& exercise) {
  return std::any_of(learner.events.begin(), learner.events.end(),
                     [&](const AttemptEvent& event) { return event.exercise == exercise; });
}

/// Pearson's correlation of two lists; nothing if the values of one are all the same.
std::optional<double> correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / double(values.size());
  };
  const double mx = mean(x), my = mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  if (xx < 1e-12 || yy < 1e-12) return {};
  return xy / std::sqrt(xx * yy);
}

/// The exercise at which a learner stopped: the last one with an event, if it is not solved.
std::string stop_of(const CourseLearner& learner) {
  for (auto event = learner.events.rbegin(); event != learner.events.rend(); ++event) {
    if (event->exercise.empty()) continue;
    return solved(learner, event->exercise) ? "" : event->exercise;
  }
  return "";
}

/// The attempts of a learner at an exercise up to the first that passed: their number, and the
/// diagnosis of the one before it; nothing if none passed.
std::optional<std::pair<double, std::string>> way_to_pass(const CourseLearner& learner,
                                                          const std::string& exercise) {
  double count = 0;
  std::string diagnosis;
  for (const AttemptEvent& event : learner.events) {
    if (event.what != "attempt" || event.exercise != exercise) continue;
    ++count;
    if (event.passed.value_or(false)) return std::pair(count, diagnosis);
    diagnosis = event.diagnosis;
  }
  return {};
}

}  // namespace

std::vector<CourseLearner> read_learners(const std::vector<std::string>& folders) {
  std::vector<CourseLearner> learners;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(attempts_file(folder))) {
      throw UsageError(fmt::format(
          "{} has no attempts.json: give the workspaces of learners who keep attempts", folder));
    }
    learners.push_back({folder, read_attempts(folder)});
  }
  return learners;
}

std::vector<ExerciseItem> exercise_items(const Course& course,
                                         const std::vector<CourseLearner>& learners) {
  std::vector<std::string> ids;
  for (const Exercise& exercise : course.exercises) ids.push_back(exercise.id);
  std::vector<ExerciseItem> items;
  for (const Exercise& exercise : course.exercises) {
    ExerciseItem item{.exercise = exercise.id, .title = exercise.master.title};
    std::vector<double> own, rest, attempts;
    std::map<std::string, Index> before;
    for (const CourseLearner& learner : learners) {
      if (stop_of(learner) == exercise.id) ++item.stopped;
      if (!began(learner, exercise.id)) continue;
      own.push_back(solved(learner, exercise.id) ? 1 : 0);
      rest.push_back(double(std::count_if(ids.begin(), ids.end(), [&](const std::string& other) {
        return other != exercise.id && solved(learner, other);
      })));
      if (const auto way = way_to_pass(learner, exercise.id)) {
        attempts.push_back(way->first);
        if (!way->second.empty()) ++before[way->second];
      }
    }
    if (own.empty()) continue;
    item.began = std::ssize(own);
    item.solved = double(std::count(own.begin(), own.end(), 1.0)) / double(own.size());
    if (own.size() >= fewest) item.discrimination = correlation(own, rest);
    if (!attempts.empty()) item.attempts = median(attempts);
    Index most = 0;
    for (const auto& [diagnosis, count] : before) {
      if (count > most) item.before_pass = diagnosis;
      most = std::max(most, count);
    }
    items.push_back(item);
  }
  return items;
}

Table table_of(const std::vector<ExerciseItem>& items) {
  Table table;
  table.columns = {"exercise", "began",           "solved", "discrimination",
                   "attempts", "before the pass", "stopped"};
  const auto number = [](const std::optional<double>& value, int digits) {
    return value ? Value(std::round(*value * std::pow(10, digits)) / std::pow(10, digits))
                 : Value("-");
  };
  for (const ExerciseItem& item : items) {
    table.rows.push_back({item.exercise, item.began, number(item.solved, 2),
                          number(item.discrimination, 2), number(item.attempts, 1),
                          item.before_pass.empty() ? "-" : item.before_pass, item.stopped});
  }
  return table;
}

std::string items_text(const std::vector<ExerciseItem>& items, std::size_t learners,
                       const TerminalStyle& style) {
  if (items.empty()) return "Nobody has begun an exercise yet.\n";
  return table_text(table_of(items), style) + "\n" +
         wrapped(
             fmt::format("{} learner{}. solved: share of those who began it; discrimination: "
                         "correlation with the number of other exercises solved (\"-\" below {} "
                         "learners); attempts: median up to the pass; stopped: it was their last.",
                         learners, learners == 1 ? "" : "s", fewest),
             style.columns) +
         "\n";
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
