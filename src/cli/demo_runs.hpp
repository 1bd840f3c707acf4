// The demo's training runs: one transformer in two layouts, trained in lockstep while heads are
// removed, and the same model trained for as many steps with all heads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cli/demo_learner.hpp"
#include "headroom/heads/pruner.hpp"
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
  Index measure_every = 100;  // steps between evaluations
  Index telemetry = 10;       // steps between measurements of the fused model's heads; 0: none

  Index steps() const { return learn_steps + prune_steps + recover_steps; }
  /// Lists the fields that the page shows, in addition to the model's configuration.
  template <class Visit>
  static void fields(Visit visit) {
    visit("batch_size", &DemoSetup::batch_size);
    visit("peak_rate", &DemoSetup::rate);
    visit("learn_steps", &DemoSetup::learn_steps);
    visit("prune_steps", &DemoSetup::prune_steps);
    visit("recover_steps", &DemoSetup::recover_steps);
    visit("heads_removed", &DemoSetup::remove);
    visit("telemetry", &DemoSetup::telemetry);
  }
};

struct DemoSizes {
  Index parameters = 0, train_examples = 0, test_examples = 0;
  template <class Visit>
  static void fields(Visit visit) {
    visit("parameters", &DemoSizes::parameters);
    visit("train_examples", &DemoSizes::train_examples);
    visit("test_examples", &DemoSizes::test_examples);
  }
};

/// summary.json. Exact match is a share: of the worse layout, as_long of the fused one.
struct DemoSummary {
  std::string task{};
  std::uint64_t seed = 0;
  Index heads_total = 0, heads_alive = 0;
  double exact_match_before = 0;
  std::optional<double> exact_match_as_long{};
  double exact_match_after = 0;
  double step_ms_before = 0, step_ms_after = 0;
  std::optional<StartDifference> separate_vs_fused{};
  std::optional<Divergence> parted_at{};
  std::vector<ComparisonRow> before_after{};
  template <class Visit>
  static void fields(Visit visit) {
    visit("task", &DemoSummary::task);
    visit("seed", &DemoSummary::seed);
    visit("heads_total", &DemoSummary::heads_total);
    visit("heads_alive", &DemoSummary::heads_alive);
    visit("exact_match_before", &DemoSummary::exact_match_before);
    visit("exact_match_as_long", &DemoSummary::exact_match_as_long);
    visit("exact_match_after", &DemoSummary::exact_match_after);
    visit("step_ms_before", &DemoSummary::step_ms_before);
    visit("step_ms_after", &DemoSummary::step_ms_after);
    visit("separate_vs_fused", &DemoSummary::separate_vs_fused);
    visit("parted_at", &DemoSummary::parted_at);
    visit("before_after", &DemoSummary::before_after);
  }
};

/// The same encoder-decoder in both layouts. Each function is one part of the demo; they are called
/// in this order. Everything is determined by the setup.
class DemoRuns {
 public:
  /// Makes the task "written dates -> ISO dates", the separate model, and the fused one by
  /// transplant. The fused model before the removal is saved in `folder`.
  DemoRuns(const DemoSetup& setup, const std::filesystem::path& folder);
  DemoRuns(const DemoRuns&) = delete;
  DemoRuns& operator=(const DemoRuns&) = delete;

  /// Compares forward pass, parameter gradients and the gradient at the embeddings' output of both
  /// layouts on one batch: max |difference| / max |value| of the worst tensor, without the key
  /// biases.
  StartDifference same_function();

  /// Called after every step of the models in training; `measured` is set where they were
  /// evaluated. Returning false stops the training (learn(), remove_heads() and train_whole() then
  /// return false).
  struct Progress {
    Index step, steps;  // in this part
    double loss;        // the fused model's
    double seconds;     // of this step, all models
    Index tokens;       // of this step, all models
    Index heads_alive;
    double exact;  // the lowest exact match in the latest evaluation
    bool measured;
  };
  using OnStep = std::function<bool(const Progress&)>;

  /// Trains both on the same batches, and records when rounding makes them diverge.
  bool learn(const OnStep& on_step);
  /// Records the attention maps of the fused model for a few unseen sentences.
  void record_maps();
  /// Chooses the heads once, by the sum of both models' sensitivities, and goes on training while
  /// they are removed from both.
  bool remove_heads(const OnStep& on_step);
  /// Times a training step of the full and of the pruned model, interleaved; their memory.
  void measure_cost();
  /// Trains the fused model again from before the removal with all heads, for as many steps and on
  /// the same batches, as the control for the pruned model.
  bool train_whole(const OnStep& on_step);

  /// The record so far, in the form that write_report() takes.
  const RunRecord& record() const { return record_; }
  DemoSummary summary() const;
  /// The cross-attention head with the largest share of its weights on the year in the source while
  /// the year's digits are written, in the first example where the year is written in digits.
  struct Reader {
    MapRecord map{};
    double share = 0;
  };
  Reader year_reader() const;

  Seq2Seq& separate() { return separate_.learner->seq2seq(); }
  Seq2Seq& fused() { return fused_.learner->seq2seq(); }
  const Seq2SeqTask& task() const { return task_; }

 private:
  struct Arm {
    const char* name;
    DemoLearner* learner;  // the run's
    std::unique_ptr<TrainingRun> run;
    std::unique_ptr<Pruner> pruner;  // none: no head is removed
    double exact = 0;
  };
  Arm make_arm(const char* name, Layout layout, std::uint64_t init, bool prunes);
  HeadChoice choose_by_both();
  std::vector<Arm*> both() { return {&separate_, &fused_}; }
  Index steps_done() const { return fused_.run->steps(); }

  bool train_both(Index steps, const char* phase, const OnStep& on_step);
  void note_removals();
  void record_difference(Index step);
  ComparisonRow score(const std::string& label, const std::vector<Arm*>& arms);

  DemoSetup setup_;
  std::filesystem::path before_removal_;
  Seq2SeqTask task_;
  std::vector<HeadScore> of_separate_, of_fused_;  // sensitivities, when the heads are chosen
  Arm separate_, fused_;
  double step_ms_before_ = 0, step_ms_after_ = 0;
  RunRecord record_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
