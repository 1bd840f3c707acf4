// Runs the jobs of a study in child processes, under locks.
#include "headroom_lab/study/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <list>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/files.hpp"
#include "headroom/io/json.hpp"
#include "headroom_lab/study/work.hpp"
#include "study/job_times.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

double now() {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

/// A child process that works on a job.
struct Working {
  std::size_t job;
  FileLock claim;
  double began;
  bool resumed;  // it continues a run that was begun before
  std::string command;
  ChildProgram child;
};

/// Does the jobs of a study in one copy of the program.
class Workshop {
 public:
  Workshop(const StudyDeclaration& declaration, const StudyPlan& plan, const StudyOptions& options,
           const StopSignals& stop)
      : declaration_(declaration),
        plan_(plan),
        options_(options),
        stop_(stop),
        folder_{fs::absolute(options.folder)},
        jobs_(jobs_of(declaration, plan)),
        done_(jobs_.size(), false),
        wanted_(jobs_.size(), options.only.empty()),
        times_(jobs_.size()),
        began_(now()) {
    look();
    choose();
    open_folder(declaration, options, folder_);
  }

  bool run() {
    const bool one = options_.copy.launched || !options_.only.empty();
    const Index most = one ? 1 : declaration_.processes;
    report("");
    while (true) {
      collect();
      if (stop_.requested()) return stop_children();
      const bool started = Index(working_.size()) < most && start_one();
      if (started) continue;
      if (working_.empty()) {  // a child may have written its result and not have ended
        look();
        if (all_done()) return true;
      }
      usleep(Index(working_.size()) < most ? 200'000 : 20'000);
    }
  }

 private:
  /// Returns whether the wanted jobs are done.
  bool all_done() const {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (wanted_[i] && !done_[i]) return false;
    }
    return true;
  }

  /// Updates which jobs are done, by any copy.
  void look() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!done_[i]) done_[i] = fs::exists(result_of(jobs_[i], plan_, folder_));
    }
  }

  /// Looks once more whether a job is done, after listing its folders: NFS remembers for up to a
  /// minute that a file is missing, but asks the server when a folder is listed.
  bool seen_again(std::size_t job) {
    const fs::path result = result_of(jobs_[job], plan_, folder_);
    for (const fs::path& folder : {result.parent_path().parent_path(), result.parent_path()}) {
      std::error_code missing;
      for (fs::directory_iterator entry(folder, missing), end; !missing && entry != end;) {
        entry.increment(missing);
      }
    }
    done_[job] = fs::exists(result);
    return done_[job];
  }

  /// Marks the jobs of `only` as wanted, and requires that they can be done.
  void choose() {
    for (const std::string& key : options_.only) {
      const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                    [&](const StudyJob& other) { return other.name == key; });
      if (job == jobs_.end()) {
        throw UsageError(fmt::format("the study has no piece \"{}\"; take keys from its list", key),
                         {"list"});
      }
      wanted_[static_cast<std::size_t>(job - jobs_.begin())] = true;
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!wanted_[i] || done_[i]) continue;
      for (const std::size_t need : jobs_[i].needs) {
        if (done_[need] || wanted_[need] || seen_again(need)) continue;
        throw UsageError(fmt::format("{} needs {} ({}), which is not done; do that one before",
                                     jobs_[i].name, jobs_[need].name, title_of(jobs_[need], plan_)),
                         {"list"});
      }
    }
  }

  /// Starts the first job that is ready and not locked by another copy.
  bool start_one() {
    const auto count = Index(jobs_.size());
    const Index first = options_.copy.rank * count / options_.copy.copies;
    for (Index i = 0; i < count; ++i) {
      const auto job = static_cast<std::size_t>((first + i) % count);
      if (done_[job] || !wanted_[job]) continue;
      done_[job] = fs::exists(result_of(jobs_[job], plan_, folder_));
      const std::vector<std::size_t>& needs = jobs_[job].needs;
      const bool ready =
          std::all_of(needs.begin(), needs.end(), [&](std::size_t need) { return done_[need]; });
      if (done_[job] || !ready) continue;
      std::optional<FileLock> claim = FileLock::if_free(folder_.claim(jobs_[job].name));
      if (!claim) continue;
      done_[job] = fs::exists(result_of(jobs_[job], plan_, folder_));  // just before our lock
      if (done_[job]) continue;
      start(job, std::move(*claim));
      return true;
    }
    return false;
  }

  void start(std::size_t job, FileLock claim) {
    const fs::path run = result_of(jobs_[job], plan_, folder_).parent_path();
    await_folder(run);
    const bool resumed =
        jobs_[job].kind != StudyJob::Kind::scores && fs::exists(run / "config.json");
    std::error_code ignored;
    fs::remove(folder_.failure(jobs_[job].name), ignored);
    Words words = command_of(jobs_[job], declaration_, plan_, folder_);
    words.insert(words.begin(), options_.program);
    working_.push_back({job, std::move(claim), now(), resumed, shell_text(words),
                        ChildProgram(words, "", {"OMP_NUM_THREADS=1"})});
  }

  /// Waits for the child of a copy that died, which may take a moment to end.
  static void await_folder(const fs::path& folder) {
    if (!fs::exists(folder)) return;
    const double patience = now() + 60;
    while (!FileLock::if_free(folder / ".lock")) {
      if (now() > patience) {
        throw FileError(fmt::format("{}: {} still writes to this folder; end it and start again",
                                    folder.string(), FileLock::holder(folder / ".lock")));
      }
      usleep(20'000);
    }
  }

  /// Takes the results of children that have ended.
  void collect() {
    for (auto work = working_.begin(); work != working_.end();) {
      const std::optional<ChildResult> result = work->child.poll();
      if (!result) {
        ++work;
        continue;
      }
      finish(*work, *result);
      work = working_.erase(work);
    }
  }

  void finish(const Working& work, const ChildResult& result) {
    const StudyJob& job = jobs_[work.job];
    const fs::path file = result_of(job, plan_, folder_);
    if (result.code == 0 && job.kind == StudyJob::Kind::scores) write_file(file, result.out);
    if (result.code != 0 || !fs::exists(file)) {
      // A signal to all processes may reach this one after its child has ended.
      if (result.code > 128) usleep(200'000);
      if (stop_.requested()) return;
      fail(job, result);
    }
    StudyWork done = work_done_now(now() - work.began);
    done.resumed = work.resumed;
    done.command = work.command;
    done.study = options_.command;
    write_work(folder_.work(job.name), done);
    done_[work.job] = true;
    look();
    report(title_of(job, plan_));
  }

  [[noreturn]] void fail(const StudyJob& job, const ChildResult& result) const {
    std::string error = result.err.substr(std::min(result.err.rfind("error: "), result.err.size()));
    while (!error.empty() && error.back() == '\n') error.pop_back();
    const std::string text = fmt::format(
        "{} failed with exit code {}: {} (in {})", title_of(job, plan_), result.code,
        error.empty() ? "no message" : error.substr(std::min<std::size_t>(error.size(), 7)),
        result_of(job, plan_, folder_).parent_path().string());
    write_file(folder_.failure(job.name), text + "\n");
    switch (result.code) {
      case 2: throw UsageError(text);
      case 3: throw NumericError(text);
      case 4: throw DataError(text);
      case 5: throw FileError(text);
      default: throw Error(text);
    }
  }

  /// Lets the children save and end. Returns false. A terminal or a batch system may have sent them
  /// its signal, too, which SIGUSR1 does not turn into an end before they have saved.
  bool stop_children() {
    for (const Working& work : working_) work.child.send(SIGUSR1);
    while (!working_.empty()) {
      collect();
      usleep(20'000);
    }
    return false;
  }

  void report(const std::string& finished) {
    if (!options_.progress) return;
    StudyProgress progress{.done = std::count(done_.begin(), done_.end(), true),
                           .all = Index(jobs_.size()),
                           .seconds = now() - began_,
                           .left = options_.only.empty() ? seconds_left() : std::nullopt,
                           .finished = finished};
    options_.progress(progress);
  }

  /// Estimates the seconds until all jobs are done.
  std::optional<double> seconds_left() {
    times_.read(jobs_, done_, folder_);
    double left = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (done_[i]) continue;
      const std::optional<double> seconds = times_.estimate(jobs_[i]);
      if (!seconds && jobs_[i].kind != StudyJob::Kind::scores) return std::nullopt;
      left += seconds.value_or(0);
    }
    const Index together = options_.copy.launched ? options_.copy.copies : declaration_.processes;
    return left / double(together);
  }

  const StudyDeclaration& declaration_;
  const StudyPlan& plan_;
  const StudyOptions& options_;
  const StopSignals& stop_;
  StudyFolder folder_;
  std::vector<StudyJob> jobs_;
  std::vector<bool> done_, wanted_;
  JobTimes times_;
  std::list<Working> working_;
  double began_;
};

}  // namespace

bool run_study(const StudyDeclaration& declaration, const StudyPlan& plan,
               const StudyOptions& options, const StopSignals& stop) {
  return Workshop(declaration, plan, options, stop).run();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
