// HeadLives: measures every head at a few steps of a run that removes heads.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "headroom/train/learner.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One sequence whose attention is recorded again and again.
struct FixedExample {
  Tokens source, target_in;  // that encoder and decoder read; either may be empty
  ExampleRecord shown;       // the same as texts, with the targets and without maps
};
/// The first validation example of a task with 6 to 16 tokens on each side, otherwise the one with
/// the fewest tokens; of a text, the first 16 tokens of its validation part. None if it has more
/// than 48 tokens on a side, because the maps would be too large, or fewer than 2.
std::optional<FixedExample> fixed_example(const Task& task);

/// Measures all live heads after the update of some steps: the attention maps of one example, the
/// cost of switching each head off, and the gate gradients, which predict that cost to first order.
/// All other gates are 1, also those that training still learns. Add it after the parts that remove
/// heads. Nothing that it does changes a bit of the training, and it has no state: the steps follow
/// from the timeline of those parts. A measurement of H heads takes H + 1 forward passes and one
/// backward pass over `examples` examples, about as long as (H + 4) / 6 training steps of 64
/// examples; a run has at most 25 measurements.
class HeadLives : public StepPart {
 public:
  static constexpr Index examples = 32;  // of ExampleSet::importance
  /// At the first step and at the end of each of so many equal parts of the run; also after each
  /// removal or regrowth, but not twice in half a part.
  static constexpr Index parts = 8;
  using Timeline = std::function<std::vector<PruningEvent>()>;

  /// The learner must outlive it. `steps`: of the run. `timeline`: all events so far.
  HeadLives(Learner& learner, std::optional<FixedExample> example, Index steps, Timeline timeline)
      : learner_(&learner),
        example_(std::move(example)),
        steps_(steps),
        timeline_(std::move(timeline)) {}

  /// Adds line() to the report if the step is measured.
  void after_update(StepReport& report) override;
  bool is_due(Index step) const;
  /// Measures now.
  LifeLine line(Index step) const;

 private:
  Learner* learner_;
  std::optional<FixedExample> example_;
  Index steps_;
  Timeline timeline_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
