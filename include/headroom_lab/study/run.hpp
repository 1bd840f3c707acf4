// Runs the training runs of a study as child processes of one or several copies of the program.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/train/stop_signals.hpp"
#include "headroom_lab/study/plan.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The rank of this copy of the program among several, from the variables of its launcher: Open MPI
/// (OMPI_COMM_WORLD_RANK and _SIZE), other MPI (PMI_RANK and PMI_SIZE), Slurm (SLURM_PROCID and
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
  std::optional<double> left{};  // estimate of the remaining seconds
  std::string finished;          // title of the run or measurement that finished last
};

/// How a study is run.
struct StudyOptions {
  std::filesystem::path folder;
  std::string program;    // the path of headroom
  std::string command{};  // that starts the study, for the records of its jobs
  bool resume = false;    // continue a study, perhaps together with other copies
  StudyCopy copy = {};
  std::vector<std::string> only = {};  // keys of the only pieces to do (pieces.hpp); empty: all
  bool only_steps = false;  // estimates leave out scores and choices of heads, which take minutes
  std::function<void(const StudyProgress&)> progress = {};
  std::function<void(const std::string&)> timing = {};  // gets the name of each timed measurement
};

/// Trains the runs of the plan that are not done. Returns true when all runs are done, by this copy
/// or by others. Returns false after a request of `stop`; the unfinished runs have then saved and
/// are free for other copies. With `only`, all that counts for these pieces alone, one at a time;
/// if another copy works on one, this copy waits.
///
/// All copies share the folder. A copy locks the run that it trains in `claims`. If the copy dies,
/// its child processes die too, the system releases the lock, and another copy continues the run
/// from its checkpoint. A run is done when its summary.json exists, which is written atomically. So
/// every run is trained once, and the results do not depend on the number and order of copies or on
/// kills. Each copy begins at another position of the list of runs. A launched copy trains one run
/// at a time, any other copy `declaration.processes` runs, each with one thread.
///
/// Throws UsageError for a folder that is not empty without `resume`, for a folder of another
/// declaration, and in `only` for a key that the plan does not have and for a piece that needs
/// another one which is neither done nor in `only`. Throws the error of a run that failed.
bool run_study(const StudyDeclaration& declaration, const StudyPlan& plan,
               const StudyOptions& options, const StopSignals& stop);

/// The amount of work of a study, and an estimate of its time.
struct StudyEstimate {
  Index trunks = 0, cells = 0, trunks_done = 0, cells_done = 0;
  Index steps = 0;  // of all runs that are not done
  // Measured in short runs: the seconds of a step, of an evaluation, of the start of a run, of a
  // measurement of the test set, and of the scores of a trunk.
  double step_seconds = 0, evaluation_seconds = 0, begin_seconds = 0, test_seconds = 0,
         scores_seconds = 0;
  /// Choices of heads by a metric or chooser, or learned gates.
  struct Choice {
    std::string by;
    Index times = 0;          // in all cells that are not done
    double seconds = 0;       // of one choice of the largest number of heads
    double step_seconds = 0;  // seconds that gates add to a step
  };
  std::vector<Choice> choices{};
  std::map<std::string, double> seconds{};  // of each run and measurement that is not done, by key
  double minutes = 0;  // of the runs that are not done, with `processes` runs at a time
};
StudyEstimate estimate_study(const StudyDeclaration& declaration, const StudyPlan& plan,
                             const StudyOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
