// The demo's training runs: one transformer in two layouts, trained in lockstep while heads are
// removed, and the arms of the fused model.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cli/demo/demo_arms.hpp"
#include "cli/demo/demo_heads.hpp"
#include "cli/demo/demo_setup.hpp"
#include "headroom/base/listed.hpp"
#include "headroom_measure/pruning/pruner.hpp"
#include "headroom_runs/records/head_lives.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct DemoSizes {
  Index parameters = 0, train_examples = 0, test_examples = 0;
  using T = DemoSizes;
  using Fields = Listed<&T::parameters, &T::train_examples, &T::test_examples>;
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
  using T = DemoSummary;
  using Fields =
      Listed<&T::task, &T::seed, &T::heads_total, &T::heads_alive, &T::exact_match_before,
             &T::exact_match_as_long, &T::exact_match_after, &T::step_ms_before, &T::step_ms_after,
             &T::separate_vs_fused, &T::parted_at, &T::before_after>;
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
  /// evaluated. Returning false stops the training (learn() and remove_heads() then return false).
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

  /// Trains both on the same batches, and records when rounding makes them diverge, and how
  /// sensitivities and costs of the fused model's heads develop.
  bool learn(const OnStep& on_step);
  /// Records the attention maps of the fused model for a few unseen sentences.
  void record_maps();
  /// Measures the fused model's heads by both metrics and their costs, and chooses those to remove
  /// by demo_metric.
  void choose_heads();
  /// Goes on training while these heads are removed from both models.
  bool remove_heads(const OnStep& on_step);
  /// Times a training step of the full and of the pruned model, interleaved, and once more if the
  /// speed-up is higher than the arithmetic allows; their memory.
  void measure_cost();
  /// Trains the arms: the fused model from before the removal, on the same batches for as many
  /// steps, whole and with heads cut by several choices. See run_cuts(). Returns false when one was
  /// stopped.
  bool train_arms(const CutRunner& run, int at_once, const std::function<void(Index, Index)>& done);

  /// The record so far, in the form that write_report() takes.
  const ReportRecord& record() const { return record_; }
  DemoSummary summary() const;
  /// The cross-attention head with the largest share of its weights on the year in the source while
  /// the year's digits are written, in the first example where the year is written in digits.
  struct Reader {
    MapRecord map{};
    double share = 0;
  };
  Reader year_reader() const;

  Seq2Seq& separate() { return seq2seq_of(*separate_.run); }
  Seq2Seq& fused() { return seq2seq_of(*fused_.run); }
  const Seq2SeqTask& task() const { return task_; }

 private:
  struct Twin {
    const char* name;
    std::unique_ptr<TrainingRun> run;
    std::unique_ptr<Pruner> pruner;
    double exact = 0;
  };
  Twin make_twin(const char* name, Layout layout);
  std::vector<Twin*> both() { return {&separate_, &fused_}; }
  Index steps_done() const { return fused_.run->steps(); }

  bool train_both(Index steps, const char* phase, const OnStep& on_step);
  void note_removals();
  void record_difference(Index step);
  ComparisonRow score(const std::string& label);

  DemoSetup setup_;
  std::filesystem::path before_removal_;
  Seq2SeqTask task_;
  HeadChoice choice_;  // by demo_metric, for both models
  Twin separate_, fused_;
  HeadLives lives_;  // of the fused model
  double step_ms_before_ = 0, step_ms_after_ = 0;
  ReportRecord record_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
