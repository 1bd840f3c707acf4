// Schedules of removal: how many heads are gone after a training step.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "headroom/base/real.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// Steps are those of the training; a removal after step t follows the update of step t.

/// All heads after one step.
struct OneShot {
  Index at = 0;

  template <class Visit>
  static void fields(Visit visit) {
    visit("at", &OneShot::at);
  }
};

/// Equal shares after the steps from, from + recover, from + 2 recover, ..., the last of them after
/// step from + (rounds - 1) recover. Between two removals the model recovers.
struct Iterative {
  Index from = 0, rounds = 1, recover = 1;

  template <class Visit>
  static void fields(Visit visit) {
    visit("from", &Iterative::from);
    visit("rounds", &Iterative::rounds);
    visit("recover", &Iterative::recover);
  }
};

/// None at step `from`, all after step `to`, a removal every `every` steps in between, many heads
/// at first and few at the end: s_t = s_f + (s_i - s_f) (1 - (t - t_0) / (n dt))^3 with s_i = 0.
/// Zhu and Gupta 2017, equation 1.
struct Gradual {
  Index from = 0, to = 1, every = 1;

  template <class Visit>
  static void fields(Visit visit) {
    visit("from", &Gradual::from);
    visit("to", &Gradual::to);
    visit("every", &Gradual::every);
  }
};

/// A schedule for any number of heads. In JSON an object with one member: the name and the fields,
/// {"gradual": {"from": 300, "to": 700, "every": 20}}.
using Pace = std::variant<OneShot, Iterative, Gradual>;

/// "one_shot", "iterative" or "gradual".
std::string name_of(const Pace& pace);
/// The names of all schedules, in the order of the variant.
const std::vector<std::string>& pace_names();

/// Throws UsageError for a step below 0, for a round, a recovery or an interval below 1, and for a
/// gradual schedule that does not end after it begins.
void check(const Pace& pace);

/// Heads out of `total` that are gone after the update of this step: a function of the step alone,
/// which never falls, is 0 before first_step() and `total` from last_step() on.
Index removed_at(const Pace& pace, Index total, Index step);
/// The step after which the first heads are chosen. A gradual schedule removes them later.
Index first_step(const Pace& pace);
/// The first step after which all heads are gone.
Index last_step(const Pace& pace);

Record json_of(const Pace& pace);
/// Throws DataError.
void read_json(const JsonNode& from, Pace& to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
