// MeasuredAfter: the quality of a model right after one step of its training.
#pragma once

#include <map>
#include <string>

#include "headroom/io/fields.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/step_part.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The measures of a model after a step, as checkpoints and summary.json keep them.
struct AfterCut {
  Index step = 0, heads_alive = 0;
  std::map<std::string, double> validation = {}, test = {};

  using T = AfterCut;
  using Fields = Listed<&T::step, &T::heads_alive, &T::validation, if_any<&T::test>>;
};

/// Measures a learner's model right after the update of one step, for instance the one that removes
/// the last head, if it is added after the part that removes heads. Nothing else changes by it. The
/// result is in the checkpoint, so that a resumed run has it, too.
class MeasuredAfter : public StepPart, public Stateful {
 public:
  /// The learner must outlive it. `test`: also on the test set.
  MeasuredAfter(Learner& learner, Index step, bool test)
      : learner_(&learner), step_(step), test_(test) {}

  /// An AfterCut; empty before the step.
  const Record& result() const { return result_; }

  void after_update(StepReport& report) override;
  void save_state(StateWriter to) const override;
  /// A checkpoint without it is as one before the step. Throws FileError for a result of another
  /// form.
  void load_state(const StateReader& from) override;

 private:
  Learner* learner_;
  Index step_;
  bool test_;
  Record result_ = Record::object();
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
