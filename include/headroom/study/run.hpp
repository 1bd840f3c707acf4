// Runs the training runs of a study as child processes, in as many copies of the program as are
// started.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "headroom/study/plan.hpp"
#include "headroom/train/stop_signals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which of several copies of the program this one is, as a launcher says in its environment: Open
/// MPI (OMPI_COMM_WORLD_RANK and _SIZE), other MPI (PMI_RANK and PMI_SIZE), Slurm (SLURM_PROCID and
/// SLURM_NTASKS) or a job array of Slurm (SLURM_ARRAY_TASK_ID, _MIN and _COUNT).
struct StudyCopy {
  Index rank = 0, copies = 1;
  bool launched = false;
};
StudyCopy study_copy();

/// The state of a study while it runs.
struct StudyProgress {
  Index done = 0, all = 0;       // runs and measurements, of all copies
  double seconds = 0;            // since this copy began
  std::optional<double> left{};  // seconds, estimated from those that are done
  std::string finished;          // the newest one
};

struct StudyOptions {
  std::filesystem::path folder;
  std::string program;  // the path of headroom
  bool resume = false;  // the folder may have been begun, or is being worked on by other copies
  StudyCopy copy = {};
  std::function<void(const StudyProgress&)> progress = {};
};

/// Trains everything that the plan asks for and that is not done, and returns true when all is
/// done, by this copy or by others. Returns false if `stop` asked it to end; the runs then have
/// saved.
///
/// The folder is shared by all copies. A copy takes a run by a lock in `claims`, which the system
/// releases if the copy dies, and a child process dies with its copy; another copy then continues
/// the run from its checkpoint. A run is done when its summary.json is there, which is written in
/// one piece. So every run is trained once, and the results do not depend on the number of copies,
/// on their order or on kills. Each copy begins at its own place in the list. A launched copy
/// trains one run at a time, any other `declaration.processes` of them, each with one thread.
///
/// Throws UsageError for a folder that is not empty without `resume`, and for one of another
/// declaration; and the error of a run that failed.
bool run_study(const StudyDeclaration& declaration, const StudyPlan& plan,
               const StudyOptions& options, const StopSignals& stop);

/// The amount of work of a study, and an estimate of its time.
struct StudyEstimate {
  Index trunks = 0, cells = 0, trunks_done = 0, cells_done = 0;
  Index steps = 0;          // of all runs that are not done
  double step_seconds = 0;  // of one step, of one evaluation, of a run's beginning: measured in
  double evaluation_seconds = 0, begin_seconds = 0;  // short runs
  double test_seconds = 0, scores_seconds = 0;       // of the test set; of the scores of a trunk
  /// Choices of heads by a metric or chooser, or learned gates.
  struct Choice {
    std::string by;
    Index times = 0;          // in all cells that are not done
    double seconds = 0;       // of one choice of most heads
    double step_seconds = 0;  // that gates add to a step
  };
  std::vector<Choice> choices{};
  double minutes = 0;  // for what is not done, with `processes` runs at a time
};
StudyEstimate estimate_study(const StudyDeclaration& declaration, const StudyPlan& plan,
                             const StudyOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
