// The times of a study's jobs, from the records of those that are done. Private.
#pragma once

#include <optional>
#include <vector>

#include "study/jobs.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads each record once. A job that continued what another program had begun counts for nothing:
/// its record has the time of a part.
class JobTimes {
 public:
  explicit JobTimes(std::size_t jobs) : took_(jobs) {}

  /// Reads the records of jobs that became done.
  void read(const std::vector<StudyJob>& jobs, const std::vector<bool>& done,
            const StudyFolder& folder);
  /// The seconds of a job that is done, from its start to its end in one program.
  std::optional<double> took(std::size_t job) const { return took_[job]; }
  /// Estimates the seconds of a job on one processor by the mean time of a step in jobs of its
  /// kind. A cell without other cells counts as a trunk, and the other way round. Nothing if no
  /// time is known.
  std::optional<double> estimate(const StudyJob& job) const;

 private:
  struct Sum {
    double seconds = 0, amount = 0;
  };
  std::vector<std::optional<double>> took_;
  Sum known_[3];  // by kind
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
