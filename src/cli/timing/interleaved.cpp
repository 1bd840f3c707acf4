// Times of several works that take turns.
#include "cli/timing/interleaved.hpp"

#include <algorithm>
#include <chrono>

#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/report/report_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double milliseconds(Index times, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  for (Index i = 0; i < times; ++i) work();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  return time.count() / double(times);
}

std::vector<double> interleaved_medians(Index turns,
                                        const std::vector<std::function<void()>>& works) {
  std::vector<Index> repeats;
  for (const auto& work : works) {
    work();
    repeats.push_back(1 + Index(5 / std::max(1e-3, milliseconds(1, work))));
  }
  std::vector<std::vector<double>> times(works.size());
  for (Index turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      times[i].push_back(milliseconds(repeats[i], works[i]));
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& of_work : times) medians.push_back(median(of_work));
  return medians;
}

std::vector<double> measured_again(const std::function<std::vector<double>()>& measure,
                                   const std::vector<double>& ceilings) {
  const std::vector<double> times = measure();
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (beyond_arithmetic(times[0] / times[i], ceilings[i])) return measure();
  }
  return times;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
