// The dates task with a model in one layout, as the demo trains it.
#pragma once

#include "headroom/data/batches.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Learns written dates in two phases: after `second_phase` steps the batches start anew, in
/// another order. Evaluates every model on the same first validation examples.
class DemoLearner : public Learner {
 public:
  /// The task must outlive it.
  DemoLearner(const Seq2SeqTask& task, const ModelConfig& config, Rng rng,
              const LearnerOptions& options, Index second_phase);

  Seq2Seq& seq2seq() { return model_; }
  Module& model() override { return model_; }
  Index next_batch() override;
  Tensor loss(HeadProbe* probe) override;
  /// {"exact_match"} on the first options.quick validation examples.
  Record evaluate() override;
  /// {"exact_match"} on the test set.
  Record test() override;
  const char* measure() const override { return "exact_match"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::higher; }
  Stateful& position() override { return position_; }
  Record about() const override { return task_record(task_); }
  /// The first `most` examples of the set. The sets importance, selection and validation are the
  /// same: the task's validation examples.
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override;

 private:
  /// Number of steps done, and the batches of the current phase.
  struct Position : Stateful {
    Position(const Seq2SeqTask& of_task, const LearnerOptions& with, Index second_phase_from);
    Seq2SeqBatch next();
    void save_state(StateWriter to) const override;
    void load_state(const StateReader& from) override;
    Seq2SeqLoader loader(Index first_step) const;

    const Seq2SeqTask& task;
    LearnerOptions options;
    Index second_phase, steps = 0;
    Seq2SeqLoader batches;
  };
  double exact_match(std::span<const Seq2SeqQuestion> questions);

  const Seq2SeqTask& task_;
  LearnerOptions options_;
  Rng rng_;
  Seq2Seq model_;
  Position position_;
  Seq2SeqBatch batch_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
