// The loop.
#include "headroom/train/training_loop.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void TrainingLoop::every(Index n, Observer observer) {
  if (n < 1) {
    throw UsageError(
        fmt::format("training loop: an interval of {} steps; it must be at least 1", n));
  }
  regular_.push_back({n, std::move(observer)});
}

bool TrainingLoop::run(Index done, const StopSignals* stop, Index until) {
  const auto over = [&] {
    return done >= steps_ || ended_ || (until > 0 && done >= until) ||
           (stop != nullptr && stop->requested());
  };
  if (over()) return done >= steps_;
  while (true) {
    StepReport report = step_();
    done = report.step;
    for (const Regular& regular : regular_) {
      if (done % regular.every == 0 || done >= steps_) regular.observer(report);
    }
    if (!over()) continue;  // asked once a step: a signal after the answer no is seen by the next
    for (const Observer& observer : at_end_) observer(report);
    return done >= steps_;
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
