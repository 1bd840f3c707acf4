// The main job: one transformer in two layouts, trained in lockstep, losing heads on the way.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headroom/data/task.hpp"
#include "headroom/heads/importance.hpp"
#include "headroom/heads/pruning.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/train/trainer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct LayoutComparisonOptions {
  std::uint64_t seed = 1;
  Index width = 64, heads = 4, hidden = 256, layers = 2;  // of each stack
  Index batch_size = 64;
  double rate = 4e-3;
  Index learn_steps = 1300;   // until both know the task
  Index prune_steps = 200;    // while heads go
  Index recover_steps = 250;  // after the last one went
  Index remove = 12;          // of 24 heads
  Index measure_every = 100;  // steps between evaluations
  Index telemetry = 10;       // steps between measurements of the fused model's heads; 0: none
};

/// The same encoder-decoder in both layouts. Each function is one part of the story and returns its
/// records; they are called in this order. Everything is determined by the options.
class LayoutComparison {
 public:
  /// Makes the task "written dates -> ISO dates", the separate model, and the fused one by
  /// transplant.
  explicit LayoutComparison(const LayoutComparisonOptions& options);

  /// How far forward pass, parameter gradients and the gradient by the embeddings' output are apart
  /// on one batch: max |difference| / max |value| of the worst tensor, key biases apart.
  /// {"forward", "parameter_gradient", "input_gradient", "tolerance"}
  Record same_function();

  /// Called after every step of both models; `measured` is set where both were evaluated. Returning
  /// false stops the training (learn() and remove_heads() then return false).
  struct Progress {
    Index step, steps;  // in this part
    double loss;        // the fused model's
    double seconds;     // of this step, both models
    Index tokens;       // of this step, both models
    Index heads_alive;
    double exact_separate, exact_fused;  // latest on the validation set
    bool measured;
  };
  using OnStep = std::function<bool(const Progress&)>;

  /// Trains both on the same batches, recording when rounding parts them.
  bool learn(const OnStep& on_step);
  /// What each head of the fused model looks at in a few unseen sentences.
  void look();
  /// Chooses the heads once, by the sum of both models' sensitivities, and goes on training while
  /// they are removed from both.
  bool remove_heads(const OnStep& on_step);
  /// Times a training step of the full and of the pruned model, interleaved; their memory.
  void measure_cost();

  /// All records so far, in the form that write_report() takes.
  const Record& records() const { return records_; }
  /// Task, seed, heads, exact match, step time, separate_vs_fused.
  Record summary() const;
  /// The cross-attention head whose weights for the year's digits lie most on the year in the
  /// source, in the first example where the year is written in digits; "share" is how much of them.
  /// {"layer", "head", "share", "example"}
  Record year_reader() const;

  Seq2Seq& separate() { return *separate_.model; }
  Seq2Seq& fused() { return *fused_.model; }
  const Seq2SeqTask& task() const { return task_; }

 private:
  struct Contestant {
    const char* name;
    std::unique_ptr<Seq2Seq> model;
    std::unique_ptr<AdamW> optimizer;
    double exact = 0;
  };
  bool train(const char* phase, Index steps, const RateSchedule& rate, const PruningPlan* plan,
             const OnStep& on_step);
  void measure(Index step, const char* phase, const double* losses);
  void record_difference(Index step);
  Record score_both(const char* label);
  std::vector<HeadScore> sensitivity_of(Contestant& contestant);
  std::vector<HeadScore> removal_costs();  // of the fused model

  LayoutComparisonOptions options_;
  Seq2SeqTask task_;
  Contestant separate_, fused_;
  Index steps_done_ = 0;
  double step_ms_before_ = 0, step_ms_after_ = 0;
  Record records_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
