// The demo's task, model and schedule of learning rates: what all of its training runs have in
// common.
#pragma once

#include <memory>

#include "headroom/base/listed.hpp"
#include "headroom/nn/models.hpp"
#include "headroom_runs/runs/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct DemoSetup {
  std::uint64_t seed = 1;
  Index width = 64, heads = 4, hidden = 256, layers = 2;  // layers of each stack
  Index batch_size = 64;
  double rate = 4e-3;
  Index learn_steps = 1300;   // until both models know the task
  Index prune_steps = 200;    // while heads are removed
  Index recover_steps = 250;  // after the last one was removed
  Index remove = 12;          // of 24 heads
  Index remove_few = 6;       // the smaller number of heads that arms cut
  Index measure_every = 100;  // steps between evaluations
  Index telemetry = 10;       // steps between measurements of the fused model's heads; 0: none
  Index validation = 1500;    // examples for evaluations and for measuring heads
  Index importance_examples = 256;  // on which heads are measured

  Index steps() const { return learn_steps + prune_steps + recover_steps; }
  /// The page shows them beside the model's configuration.
  using T = DemoSetup;
  using Fields =
      Listed<&T::seed, &T::width, &T::heads, &T::hidden, &T::layers, &T::batch_size,
             named_as<"peak_rate", &T::rate>, &T::learn_steps, &T::prune_steps, &T::recover_steps,
             named_as<"heads_removed", &T::remove>, named_as<"few_heads_removed", &T::remove_few>,
             &T::measure_every, &T::telemetry, named_as<"validation_examples", &T::validation>,
             &T::importance_examples>;
};

/// "Written dates -> ISO dates".
Seq2SeqTask demo_task(const DemoSetup& setup);

/// A run of the demo's model in one layout, at its start: the learning rate falls until
/// learn_steps, and again from a lower peak after that. The same batches for the same seed.
std::unique_ptr<TrainingRun> demo_run(const DemoSetup& setup, const Seq2SeqTask& task,
                                      Layout layout, Index telemetry = 0);

/// The model of such a run.
Seq2Seq& seq2seq_of(TrainingRun& run);
/// Its exact match on the test set, a share.
double test_exact_match(TrainingRun& run);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
