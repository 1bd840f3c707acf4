//! title: removed_at, the gradual schedule
//! replaces: headroom::removed_at
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: At half of the way, p = 1/2: which share of the heads is gone? Is that more or less than
//!   half of them, and why may it be so?
//! hint: Two lines deal with the steps before and after. In between, count whole intervals: a
//!   division of integers rounds down.
//! hint: removals = (step - pace.from) / pace.every; part = double(removals * pace.every) /
//!   double(pace.to - pace.from); Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) +
//!   1e-9)).
//! after: The number depends on the step alone, so a run that is resumed at step 700 asks the same
//!   question and gets the same answer. Nothing has to be saved.
// Exercise 13/1, removed_at: how many heads are gone after a step.
#include "1_removed_at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Index gone(const OneShot& pace, Index total, Index step) { return step >= pace.at ? total : 0; }

Index gone(const Iterative& pace, Index total, Index step) {
  if (step < pace.from) return 0;
  const Index rounds = std::min(pace.rounds, (step - pace.from) / pace.recover + 1);
  return total * rounds / pace.rounds;
}

Index gone(const Gradual& pace, Index total, Index step) {
  //! solution
  if (step <= pace.from) return 0;
  if (step >= pace.to) return total;
  const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  const double part = double(removals * pace.every) / double(pace.to - pace.from);
  return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
  //! skeleton
  // if (step <= pace.from) return 0;
  // if (step >= pace.to) return chapter::todo("the number of heads that are gone at the end");
  // const double part = chapter::todo("p: the part of the way after the last removal");
  // return chapter::todo("the number of heads that are gone", part);
  //! mistake linear: the heads went in equal shares: many must go at first and few at the end, when
  //!   each one that is left does more
  //- return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
  //+ return Index(std::floor(double(total) * part + 1e-9));
  //! mistake slow_first: few heads go at first and many at the end: it is the part that is left, 1
  //!   - p, which falls with its third power
  //- return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
  //+ return Index(std::floor(double(total) * std::pow(part, 3) + 1e-9));
  //! mistake every_step: heads go in every step: between two removals the model should train
  //!   undisturbed
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //- const double part = double(removals * pace.every) / double(pace.to - pace.from);
  //+ const double part = double(step - pace.from) / double(pace.to - pace.from);
  //! mistake one_late: every removal comes one step late: the first one follows the update of step
  //!   from + every
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //+ const Index removals = (step - pace.from - 1) / pace.every;
  //! mistake begun_intervals: an interval that has only begun was counted: the first removal
  //!   follows the update of step from + every, and a division of integers rounds down
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //+ const Index removals = (step - pace.from + pace.every - 1) / pace.every;
  //! mistake one_early: an interval that has only begun was counted: the first removal follows the
  //!   update of step from + every, and a division of integers rounds down
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //+ const Index removals = (step - pace.from) / pace.every + 1;
  //! mistake not_all: heads are left at the end: if `every` does not divide the way, the last
  //!   removal before `to` is not at `to`
  //- if (step >= pace.to) return total;
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //+ const Index removals = (std::min(step, pace.to) - pace.from) / pace.every;
  //! mistake from_the_start: the way was measured from step 0: it begins at `from`
  //- const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  //- const double part = double(removals * pace.every) / double(pace.to - pace.from);
  //+ const Index removals = step / pace.every;
  //+ const double part = double(removals * pace.every) / double(pace.to);
  //! mistake rounds_up: the number was rounded up: a head goes before its time
  //- return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
  //+ return Index(std::ceil(double(total) * (1 - std::pow(1 - part, 3)) - 1e-9));
  //! mistake no_epsilon: a whole number came out a little too small, and was then rounded down: add
  //!   1e-9 first
  //- return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
  //+ return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3))));
  //! wrong remembers: depends on what was asked before
  // static Index last = 0;
  // if (step <= pace.from) return last = 0;
  // if (step >= pace.to) return last = total;
  // const Index removals = (step - pace.from) / pace.every;
  // const double part = double(removals * pace.every) / double(pace.to - pace.from);
  // last = std::max(last, Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9)));
  // return last;
  //! end
}

}  // namespace

Index removed_at(const Pace& pace, Index total, Index step) {
  return std::visit([&](const auto& own) { return gone(own, total, step); }, pace);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
