// Schedules of removal and of swaps: how many heads are gone or swapped after a training step.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"
#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class JsonNode;

// Steps are those of the training; a removal after step t follows the update of step t.

/// Removals of the schedules that `headroom train` makes: rounds of Iterative unless an option sets
/// them, and of Gradual at most.
inline constexpr Index usual_rounds = 4, most_gradual_removals = 20;

/// All heads after one step.
struct OneShot {
  Index at = 0;

  using T = OneShot;
  using Fields = Listed<&T::at>;
};

/// Equal shares after the steps from, from + recover, from + 2 recover, ..., the last of them after
/// step from + (rounds - 1) recover. Between two removals the model recovers.
struct Iterative {
  Index from = 0, rounds = 1, recover = 1;

  using T = Iterative;
  using Fields = Listed<&T::from, &T::rounds, &T::recover>;
};

/// None at step `from`, all after step `to`, a removal every `every` steps in between, many heads
/// at first and few at the end: s_t = s_f + (s_i - s_f) (1 - (t - t_0) / (n dt))^3 with s_i = 0.
/// Zhu and Gupta 2017, equation 1.
struct Gradual {
  Index from = 0, to = 1, every = 1;

  using T = Gradual;
  using Fields = Listed<&T::from, &T::to, &T::every>;
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

/// Parameters and moments of a head that comes back.
enum class RegrowWith {
  stash,  // those that it was removed with
  fresh   // new ones, with W_O = 0
};

/// Swaps of live heads for removed ones after the steps first + every, first + 2 every, ... below
/// `until`, where `first` is the first step of the removal. The number of heads stays. The share of
/// the live heads that are swapped falls as a cosine, share / 2 (1 + cos(pi (t - first) / (until -
/// first))): Evci et al. 2020 (RigL), section 3.
struct Regrowth {
  Index every = 1;
  double share = 0.3;
  Index until = 0;
  RegrowWith with = RegrowWith::stash;

  using T = Regrowth;
  using Fields = Listed<&T::every, &T::share, &T::until, &T::with>;
};

/// Throws UsageError for an interval below 1, for a share outside of (0, 1], and if no swap comes
/// before `until`.
void check(const Regrowth& regrowth, Index first);
/// How many of `live` heads are swapped after the update of this step: the share, rounded.
Index swapped_at(const Regrowth& regrowth, Index first, Index live, Index step);

/// A pace as JSON: an object with one key, its name.
Record json_of(const Pace& pace);
/// Throws DataError.
void read_json(const JsonNode& from, Pace& to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
