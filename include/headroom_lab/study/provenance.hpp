// StudyProvenance: where, when and by what the runs of a study were trained.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_lab/study/latency.hpp"
#include "headroom_lab/study/plan.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct StudyResults;

/// Where and how long a run or a measurement of a study was done; a part of its StudyWork.
struct StudyRunTime {
  double seconds = 0;  // of the last part, if it was resumed
  bool resumed = false;
  std::string finished, machine, processor;

  using T = StudyRunTime;
  using Fields = Listed<&T::seconds, if_any<&T::resumed>, &T::finished, &T::machine, &T::processor>;
};

/// The provenance of a study's results. All lists are sorted and have each value once. Only
/// this part of the results depends on where, when and in how many parts the study ran.
struct StudyProvenance {
  std::vector<std::string> versions, commands;  // of headroom; that started the study
  /// "fnv1a64:0123456789abcdef": checksum() of the file declaration.json; empty without one.
  std::string declaration;
  std::vector<std::string> machines, processors, blas;
  std::vector<Index> threads;  // of a run
  std::string from, to;        // when the first and the last run ended, UTC
  double seconds = 0;          // the sum over all runs and measurements
  Index resumed = 0;           // number of runs that were resumed: their first part is not in it
  Index unrecorded = 0;        // number of runs that are done and have no record
  std::string warning;         // processors_warning()
  std::map<std::string, StudyRunTime> runs;  // by job: "trunk-KEY", "scores-KEY", "cell-KEY"
  StudyLatency latency = {};                 // if it was measured

  using T = StudyProvenance;
  using Fields = Listed<&T::versions, &T::commands, &T::declaration, &T::machines, &T::processors,
                        &T::blas, &T::threads, &T::from, &T::to, &T::seconds, &T::resumed,
                        &T::unrecorded, &T::warning, &T::latency, &T::runs>;
};

/// Reads the records of the jobs that are done; `warning` stays empty. Throws FileError and
/// DataError as read_work() does.
StudyProvenance provenance_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                              const std::filesystem::path& folder);

/// "Arms are confounded with processors: in 3 of 12 comparisons, runs of the same seed were trained
/// on different models (A; B)": a difference between arms may then be one between processors, whose
/// last bits differ. Counts the comparisons of the family, or all if there are none. Empty if the
/// runs of every seed were trained on the same models, as far as records say.
std::string processors_warning(const StudyResults& results);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
