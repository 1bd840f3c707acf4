// The demo's task, model and schedule of learning rates: what all of its training runs have in
// common.
#pragma once

#include <memory>

#include "headroom/nn/models.hpp"
#include "headroom/train/training_run.hpp"

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
  template <class Visit>
  static void fields(Visit visit) {
    visit("seed", &DemoSetup::seed);
    visit("width", &DemoSetup::width);
    visit("heads", &DemoSetup::heads);
    visit("hidden", &DemoSetup::hidden);
    visit("layers", &DemoSetup::layers);
    visit("batch_size", &DemoSetup::batch_size);
    visit("peak_rate", &DemoSetup::rate);
    visit("learn_steps", &DemoSetup::learn_steps);
    visit("prune_steps", &DemoSetup::prune_steps);
    visit("recover_steps", &DemoSetup::recover_steps);
    visit("heads_removed", &DemoSetup::remove);
    visit("few_heads_removed", &DemoSetup::remove_few);
    visit("measure_every", &DemoSetup::measure_every);
    visit("telemetry", &DemoSetup::telemetry);
    visit("validation_examples", &DemoSetup::validation);
    visit("importance_examples", &DemoSetup::importance_examples);
  }
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
