// Schedules of the learning rate: functions of the step alone, so that a resumed run continues them
// exactly.
#pragma once

#include <functional>
#include <string>

#include "headroom/base/names.hpp"
#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Course of the learning rate after the warm-up.
enum class RateShape { constant, cosine, linear, inverse_root };

/// A learning rate schedule: warm-up to the peak, then a shape down to the floor.
struct RateOptions {
  RateShape shape = RateShape::constant;
  double peak = 1e-3;  // reached at the end of the warm-up
  Index warmup = 0;    // steps of linear rise: step s gets peak (s + 1) / warmup
  Index steps = 0;     // length of the run; needed by cosine and linear
  double floor = 0;    // where cosine and linear end
};

/// The learning rate of step s = 0, 1, ... With w = warm-up, n = steps and x = (s - w) / (n - w):
///   constant      peak
///   cosine        floor + (peak - floor) (1 + cos(pi x)) / 2     Loshchilov and Hutter 2017, eq. 5
///   linear        floor + (peak - floor) (1 - x)
///   inverse_root  peak sqrt(w / (s + 1))                         Vaswani et al. 2017, eq. 3, which
///                 fixes peak = 1 / sqrt(width w); without warm-up w counts as 1
/// From step n on cosine and linear stay at the floor.
class RateSchedule {
 public:
  /// Throws UsageError for a learning rate that is negative or not finite, a negative number of
  /// steps, and a cosine or linear schedule that does not outlast its warm-up.
  RateSchedule(const RateOptions& options);  // NOLINT: implicit, options are a schedule
  /// A schedule of your own: `rate` gives the learning rate of step 0, 1, ... and must depend on
  /// the step alone. `text` describes it, in a run's config.json, too, so it should contain the
  /// numbers that determine it. Throws UsageError without either.
  RateSchedule(std::function<double(Index step)> rate, std::string text);
  /// Throws UsageError when a function gives a rate that is negative or not finite.
  double operator()(Index step) const;
  /// "warm-up 100 steps to 0.002, then cosine to 0 at step 2000"
  std::string text() const;
  /// The options, or {"function": text}.
  Record to_record() const;

 private:
  RateOptions options_;
  std::function<double(Index)> function_;  // in place of the options; checks its result
  std::string text_;                       // of the function
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
