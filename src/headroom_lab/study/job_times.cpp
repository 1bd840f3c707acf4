// Mean times of a step, by kind of job.
#include "study/job_times.hpp"

#include <algorithm>

#include "headroom_lab/study/work.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double amount_of(const StudyJob& job) { return double(std::max<Index>(1, job.steps)); }

}  // namespace

void JobTimes::read(const std::vector<StudyJob>& jobs, const std::vector<bool>& done,
                    const StudyFolder& folder) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!done[i] || took_[i]) continue;
    const std::optional<StudyWork> work = read_work(folder.work(jobs[i].name));
    if (!work || work->resumed) continue;
    took_[i] = work->seconds;
    Sum& sum = known_[static_cast<std::size_t>(jobs[i].kind)];
    sum.seconds += work->seconds;
    sum.amount += amount_of(jobs[i]);
  }
}

std::optional<double> JobTimes::estimate(const StudyJob& job) const {
  constexpr auto trunk = static_cast<std::size_t>(StudyJob::Kind::trunk),
                 cell = static_cast<std::size_t>(StudyJob::Kind::cell);
  Sum by = known_[static_cast<std::size_t>(job.kind)];
  if (by.amount == 0 && job.kind != StudyJob::Kind::scores) {
    by = {known_[trunk].seconds + known_[cell].seconds, known_[trunk].amount + known_[cell].amount};
  }
  if (by.amount == 0) return std::nullopt;
  return amount_of(job) * by.seconds / by.amount;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
