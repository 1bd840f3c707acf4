// What the mistakes of an exercise give.
#include "course/learn_mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/file_lock.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

fs::path file_of(const Course& course, const Exercise& exercise, const CoursePrecision& precision) {
  return course.folder() / ("mistakes" + precision.suffix) / (exercise.target() + ".txt");
}

/// The first line of the file: a number of everything that the rest depends on.
std::string state_of(const Course& course, const Exercise& exercise,
                     const CoursePrecision& precision) {
  std::string all = course.compiler;
  for (const std::string& flag : course.flags) all += "\n" + flag;
  for (const CourseAnswer& answer : exercise.master.answers) {
    if (answer.is_mistake) all += "\n" + answer.promised + "\n" + answer.code;
  }
  for (const fs::path& file :
       {checks_program(course, exercise, precision), shared_library(course, precision)}) {
    all += fmt::format("\n{}", fs::last_write_time(file).time_since_epoch().count());
  }
  return fmt::format("{:016x}", std::hash<std::string>()(all));
}

/// The lines about one mistake.
std::string lines_of(const Course& course, const Exercise& exercise,
                     const CoursePrecision& precision, const CourseAnswer& mistake) {
  const fs::path folder =
      file_of(course, exercise, precision).parent_path() / (exercise.target() + "_" + mistake.name);
  fs::create_directories(folder);
  const fs::path source = folder / (exercise.file + ".cpp"), observed = folder / "observed.txt";
  write_file(source, mistake.code);
  fs::remove(observed);
  judge(course, exercise, precision, source, folder, observed);
  const std::string lines = fs::exists(observed) ? read_file(observed) : "";
  fs::remove_all(folder);
  return "mistake " + mistake.promised + "\n" + lines;
}

}  // namespace

Index mistake_count(const Exercise& exercise) {
  const std::vector<CourseAnswer>& answers = exercise.master.answers;
  return std::count_if(answers.begin(), answers.end(),
                       [](const CourseAnswer& answer) { return answer.is_mistake; });
}

fs::path known_mistakes(const Course& course, const Exercise& exercise,
                        const CoursePrecision& precision) {
  const fs::path path = file_of(course, exercise, precision);
  std::ifstream file(path);
  std::string state;
  return std::getline(file, state) && state == state_of(course, exercise, precision) ? path
                                                                                     : fs::path();
}

bool mistakes_missing(const Course& course, const Exercise& exercise,
                      const CoursePrecision& precision, const Verdict& verdict) {
  return verdict.kind == Verdict::Kind::failed && mistake_count(exercise) > 0 &&
         known_mistakes(course, exercise, precision).empty();
}

void learn_mistakes(const Course& course, const Exercise& exercise,
                    const CoursePrecision& precision, unsigned processors,
                    const std::stop_token& stop) {
  if (mistake_count(exercise) == 0) return;
  build_checks(course, exercise, precision);
  const fs::path path = file_of(course, exercise, precision);
  fs::create_directories(path.parent_path());
  std::optional<FileLock> lock;
  while (!(lock = FileLock::if_free(path.string() + ".lock"))) {
    if (stop.stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!known_mistakes(course, exercise, precision).empty()) return;
  std::string text = state_of(course, exercise, precision) + "\n";
  const std::vector<CourseAnswer>& answers = exercise.master.answers;
  std::vector<std::string> lines(answers.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < answers.size() && !stop.stop_requested();) {
      if (answers[i].is_mistake) lines[i] = lines_of(course, exercise, precision, answers[i]);
    }
  };
  std::vector<std::jthread> workers(processors - 1);
  for (std::jthread& worker : workers) worker = std::jthread(work);
  work();
  workers.clear();  // waits for them
  if (stop.stop_requested()) return;
  for (const std::string& part : lines) text += part;
  write_file(path, text);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
