// Writes and tries the answers of master files.
#include "cli/learn_authors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cli/learn_judge.hpp"
#include "cli/learn_screen.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

struct Trial {
  const Exercise* exercise;
  const CourseAnswer* answer;
  std::string deviation;  // from the promise of the master file; "" if there is none
};

bool as_promised(const CourseAnswer& answer, const Verdict& verdict) {
  using Kind = Verdict::Kind;
  if (answer.name == "solution") return verdict.kind == Kind::passed && verdict.warnings.empty();
  if (answer.promised == MasterFile::not_implemented) {
    return verdict.kind == Kind::not_implemented && verdict.passed.empty();
  }
  const std::string& message = verdict.message;
  const std::string guess = "It looks as if";
  return (verdict.kind == Kind::failed || verdict.kind == Kind::crashed) &&
         message.find(answer.promised) != std::string::npos &&
         message.find(guess) == message.rfind(guess) &&
         message.find(guess + " either") == std::string::npos;
}

void run(const Course& course, const CoursePrecision& precision, Trial& trial) {
  const Exercise& exercise = *trial.exercise;
  const CourseAnswer& answer = *trial.answer;
  const fs::path folder =
      course.folder() /
      ("answers" + precision.suffix + (precision.sanitizers.empty() ? "" : "_sanitized")) /
      (exercise.target() + "_" + answer.name);
  fs::create_directories(folder);
  const fs::path source = folder / (exercise.file + ".cpp");
  write_file(source, answer.code);
  const Verdict verdict = judge(course, exercise, precision, source, folder);
  if (as_promised(answer, verdict)) return;
  trial.deviation =
      fmt::format("{}expected: {}\n", verdict_text(exercise, verdict, TerminalStyle{}),
                  answer.promised.empty() ? "no failure and no warning" : answer.promised);
}

}  // namespace

std::vector<fs::path> write_answers(const Exercise& exercise, const fs::path& folder) {
  fs::create_directories(folder);
  std::vector<fs::path> files;
  for (const CourseAnswer& answer : exercise.master.answers) {
    files.push_back(folder / fmt::format("{}_{}.cpp", exercise.file, answer.name));
    write_file(files.back(), answer.code);
  }
  return files;
}

bool try_answers(const Course& course, const CoursePrecision& precision,
                 const TrialOptions& options) {
  const std::vector<std::string>& ids = options.ids;
  for (const std::string& id : ids) course.exercise(id);  // an unknown one is an error
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < course.exercises.size(); ++i) {
    const Exercise& exercise = course.exercises[i];
    if (!ids.empty() && std::find(ids.begin(), ids.end(), exercise.id) == ids.end()) continue;
    if (Index(i) % options.parts != options.part) continue;
    build_checks(course, exercise, precision);
    for (const CourseAnswer& answer : exercise.master.answers) {
      if (options.solutions_only && &answer != &exercise.master.solution()) continue;
      trials.push_back({&exercise, &answer, ""});
    }
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < trials.size();) {
      Trial& trial = trials[i];
      run(course, precision, trial);
      fmt::print("{}  {} {}\n{}", trial.deviation.empty() ? "ok   " : "WRONG", trial.exercise->id,
                 trial.answer->name, trial.deviation);
    }
  };
  std::vector<std::jthread> workers(std::max(1U, std::thread::hardware_concurrency()));
  for (std::jthread& worker : workers) worker = std::jthread(work);
  workers.clear();  // waits for them
  const auto wrong = std::count_if(trials.begin(), trials.end(),
                                   [](const Trial& trial) { return !trial.deviation.empty(); });
  fmt::print("{} answers, {} not as promised\n", trials.size(), wrong);
  return wrong == 0;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
