// Pruner: chooses heads while a model trains and removes them under a schedule.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "headroom/heads/budget.hpp"
#include "headroom/heads/head_metric.hpp"
#include "headroom/heads/pruning.hpp"
#include "headroom/optim/optimizer.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/run_record.hpp"
#include "headroom/train/step_part.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which heads are to be removed, and the measurements behind the choice.
struct HeadChoice {
  std::vector<HeadId> order;          // first to be removed first
  std::vector<HeadScore> importance;  // of all live heads, in the order of live_heads()
  std::vector<HeadScore> cost;        // of the same heads, by leave_one_out
};

/// Measures the current model and chooses heads.
using HeadChooser = std::function<HeadChoice()>;

/// Sensitivity of a learner's model on at most `examples` of ExampleSet::importance, and the cost
/// of removing each head on at most 256 of them, both in evaluation mode. Gradients are left as
/// zero_grad() leaves them.
std::vector<HeadScore> measured_sensitivity(Learner& learner, Index examples = 500);
inline constexpr const char* removal_cost_in_words =
    "the mean rise of an unseen example's loss when only this head is switched off";
std::vector<HeadScore> measured_removal_cost(Learner& learner, Index examples = 256);

struct PrunerOptions {
  Pace pace;
  Index remove = 0;  // heads to remove
  Index keep = 0;    // live heads that every attention keeps
};

/// Chooses heads after the first step of the schedule and removes them from model and optimizer,
/// after the update, as the schedule says. By default the least sensitive heads are removed first
/// (metric sensitivity). Choice and progress are stored in the checkpoint, so that a resumed run
/// removes the same heads at the same steps. Until the last one is removed, no step counts as the
/// best (see StepReport::settled).
class Pruner : public StepPart, public Stateful {
 public:
  /// A head that was alive when the heads were chosen.
  struct Head {
    AttentionKind kind = AttentionKind::encoder_self;
    Index layer = 0, head = 0;  // the original number of the head
    double importance = 0;
    std::optional<double> cost = {};       // rise of the loss when only this head is removed
    std::optional<Index> removed_at = {};  // the step after whose update it was removed
    std::optional<Index> turn = {};        // index in the order of removal; none: it is kept

    HeadId id() const { return {kind, layer, head}; }
    template <class Visit>
    static void fields(Visit visit) {
      visit("kind", &Head::kind);
      visit("layer", &Head::layer);
      visit("head", &Head::head);
      visit("importance", &Head::importance);
      visit("cost", &Head::cost);
      visit("removed_at", &Head::removed_at);
      visit("turn", &Head::turn);
    }
  };

  /// Learner and optimizer must outlive it. Throws UsageError for an invalid schedule, and if so
  /// many heads cannot be removed.
  Pruner(Learner& learner, Optimizer& optimizer, const PrunerOptions& options);
  /// Uses another chooser, which is then responsible for a minimum of heads per attention.
  Pruner(Optimizer& optimizer, const Pace& pace, Index remove, HeadChooser chooser);

  /// Chooses now, unless heads were chosen before. after_update() calls it at the scheduled step.
  /// Throws UsageError unless the order has all heads to remove and all are in `importance`.
  void choose();
  bool chosen() const { return !heads_.empty(); }
  /// All heads that were alive when the choice was made, in the order of HeadId; empty before.
  const std::vector<Head>& heads() const { return heads_; }
  /// Adds the heads to the record of a run: each head with its importance for `model`, and the
  /// number of live heads over the steps up to `steps`. Does nothing if no heads were chosen.
  void describe(RunRecord& run, const std::string& model, Index steps) const;

  void after_update(StepReport& report) override;
  void save_state(StateWriter to) const override;
  void load_state(const StateReader& from) override;

 private:
  Optimizer* optimizer_;
  Pace pace_;
  Index remove_;
  HeadChooser chooser_;
  std::vector<Head> heads_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
