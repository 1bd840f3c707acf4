// PruningRecipe: everything that decides which heads a training run removes, and when, as a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/pruning/compensation.hpp"
#include "headroom_measure/pruning/gate_methods.hpp"
#include "headroom_measure/pruning/schedules.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// When heads are scored.
enum class Rescoring {
  once,        // after the first step of the schedule, which fixes the order
  each_event,  // before every removal
  running      // before every removal, by training's own gradients (TrainingScores): no passes
};

/// How a run removes heads. Two runs with equal settings and recipes give the same model, to the
/// bit.
struct PruningRecipe {
  std::string chooser = "sensitivity";  // a name of head_choosers() or head_metrics()
  std::vector<HeadId> given = {};       // heads to remove in this order, in place of a choice
  Index remove = 0;                     // heads to remove; 0: none
  Index examples = 500;                 // of ExampleSet::importance, at most
  Pace pace = Gradual{};
  Budget budget = {};
  Rescoring rescoring = Rescoring::once;
  /// Before heads are removed, their means over the same examples go into the output biases, or
  /// nothing does. Learned gates close their heads before they remove them: none.
  Compensation compensation = Compensation::none;
  /// Live heads are swapped for removed ones meanwhile. The chooser scores the live heads before
  /// each swap: Rescoring::once is not for it.
  std::optional<Regrowth> regrowth = {};
  /// Learned gates remove heads; the above then removes none. A metric as the chooser, which may
  /// be left empty, scores the heads before they go, for comparison.
  std::optional<GateOptions> gates = {};
  double drop_head = 0;  // the probability of DropHead in the first step

  using T = PruningRecipe;
  using Fields =
      Listed<&T::chooser, &T::given, &T::remove, &T::examples, &T::pace, &T::budget, &T::rescoring,
             if_any<&T::compensation>, &T::regrowth, &T::gates, &T::drop_head>;
  bool removes() const { return remove > 0 || gates; }
  /// Throws UsageError for an unknown chooser (with the nearest), for numbers out of range, and for
  /// parts that contradict each other.
  void check() const;
};

/// Whether the heads with the lowest scores by a metric of this name are removed, so that there are
/// scores to record. The name of a chooser comes first, as in head_chooser().
bool is_metric_choice(const std::string& chooser);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
