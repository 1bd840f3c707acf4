// PruningRecipe: everything that decides which heads a training run removes, and when, as a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/heads/budget.hpp"
#include "headroom/heads/compensation.hpp"
#include "headroom/heads/gate_methods.hpp"
#include "headroom/heads/schedules.hpp"
#include "headroom/train/run_record.hpp"

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

  template <class Visit>
  static void fields(Visit visit) {
    visit("chooser", &PruningRecipe::chooser);
    visit("given", &PruningRecipe::given);
    visit("remove", &PruningRecipe::remove);
    visit("examples", &PruningRecipe::examples);
    visit("pace", &PruningRecipe::pace);
    visit("budget", &PruningRecipe::budget);
    visit("rescoring", &PruningRecipe::rescoring);
    visit("compensation", &PruningRecipe::compensation, Presence::if_any);
    visit("regrowth", &PruningRecipe::regrowth);
    visit("gates", &PruningRecipe::gates);
    visit("drop_head", &PruningRecipe::drop_head);
  }
  bool removes() const { return remove > 0 || gates; }
  /// Throws UsageError for an unknown chooser (with the nearest), for numbers out of range, and for
  /// parts that contradict each other.
  void check() const;
};

/// Whether the heads with the lowest scores by a metric of this name are removed, so that there are
/// scores to record. The name of a chooser comes first, as in make_chooser().
bool is_metric_choice(const std::string& chooser);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
