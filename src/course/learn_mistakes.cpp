// The wrong results of an exercise's known mistakes: computed once, kept in files, and handed to
// the checks of a learner's answer.
#include "course/learn_mistakes.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "course/learn_build.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// build/release/course/mistakes_f64/05_4/no_mean.txt
fs::path file_of(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                 const CourseAnswer& mistake) {
  return course.folder() / ("mistakes" + precision.suffix) / exercise.target() /
         (mistake.name + ".txt");
}

}  // namespace

std::vector<const CourseAnswer*> unknown_mistakes(const Course& course, const Exercise& exercise,
                                                  const CoursePrecision& precision) {
  // build_checks() makes the checks newer than everything that the files depend on.
  const fs::file_time_type checks = time_of(checks_program(course, exercise, precision));
  std::vector<const CourseAnswer*> unknown;
  for (const CourseAnswer& answer : exercise.master.answers) {
    if (answer.is_mistake && time_of(file_of(course, exercise, precision, answer)) <= checks) {
      unknown.push_back(&answer);
    }
  }
  return unknown;
}

std::string known_mistakes(const Course& course, const Exercise& exercise,
                           const CoursePrecision& precision) {
  std::string files;
  if (!unknown_mistakes(course, exercise, precision).empty()) return files;
  for (const CourseAnswer& answer : exercise.master.answers) {
    if (answer.is_mistake) files += file_of(course, exercise, precision, answer).string() + "\n";
  }
  return files;
}

bool is_to_compare(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const Verdict& verdict) {
  return verdict.kind == Verdict::Kind::failed &&
         !unknown_mistakes(course, exercise, precision).empty();
}

Verdict observe_mistake(const Course& course, const Exercise& exercise,
                        const CoursePrecision& precision, const CourseAnswer& mistake,
                        const fs::path& folder, const std::function<bool()>& stopped) {
  fs::create_directories(folder);
  const fs::path source = folder / (exercise.file + ".cpp"), observed = folder / "observed.txt";
  write_file(source, mistake.code);
  write_file(observed, mistake.promised + "\n");
  const Verdict compiled = compile_and_compare(course, exercise, precision, source, folder);
  if (compiled.kind == Verdict::Kind::passed) {
    run_checks(course, exercise, precision, folder, observed);
  }
  if (stopped && stopped()) return compiled;
  const fs::path file = file_of(course, exercise, precision, mistake);
  fs::create_directories(file.parent_path());
  fs::rename(observed, file);
  return compiled;
}

void learn_mistake(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const CourseAnswer& mistake, const std::function<bool()>& stopped) {
  const fs::path folder = file_of(course, exercise, precision, mistake).replace_extension();
  fs::create_directories(folder);
  const FileLock lock = waited_lock(folder.string() + ".lock");
  const auto unknown = unknown_mistakes(course, exercise, precision);
  if (std::find(unknown.begin(), unknown.end(), &mistake) == unknown.end()) return;
  observe_mistake(course, exercise, precision, mistake, folder, stopped);
  fs::remove_all(folder);
}

void learn_mistakes(const Course& course, const Exercise& exercise,
                    const CoursePrecision& precision,
                    const std::function<void(Index done, Index all)>& progress) {
  const auto unknown = unknown_mistakes(course, exercise, precision);
  std::mutex mutex;
  Index done = 0;
  if (progress) progress(done, std::ssize(unknown));
  in_parallel(unknown.size(), [&](std::size_t i) {
    learn_mistake(course, exercise, precision, *unknown[i]);
    const std::lock_guard only(mutex);
    if (progress) progress(++done, std::ssize(unknown));
  });
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto worker = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::future<void>> workers(std::max(1U, std::thread::hardware_concurrency()));
  for (std::future<void>& one : workers) one = std::async(std::launch::async, worker);
  for (std::future<void>& one : workers) one.get();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
