// Times of several works that take turns.
#pragma once

#include <functional>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Milliseconds per call of `work`, as the mean of `times` calls.
double milliseconds(Index times, const std::function<void()>& work);

/// The medians of several works that take turns, in milliseconds, so that a change of the machine's
/// speed meets all of them. Works that are shorter than 5 ms are repeated within a turn.
std::vector<double> interleaved_medians(Index turns,
                                        const std::vector<std::function<void()>>& works);

/// The times that `measure` returns. If one is shorter than the first by more than the arithmetic
/// allows (see beyond_arithmetic(); `ceilings` are the highest speed-ups over the first), all are
/// measured once more, and the second times count.
std::vector<double> measured_again(const std::function<std::vector<double>()>& measure,
                                   const std::vector<double>& ceilings);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
