// Learner: a model with its task's data, for any kind of task.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headroom/data/task.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How batches are drawn and how much is evaluated.
struct LearnerOptions {
  Index batch_size = 64;
  Index length = 64;  // of windows, for texts
  std::uint64_t seed = 1;
  Real label_smoothing = 0;
  Index quick = 1000;  // at most so many examples in evaluate(); test() takes all
};

/// The interface between a training run and its task. Task and model belong to the learner.
class Learner {
 public:
  virtual ~Learner() = default;

  virtual Module& model() = 0;
  /// Draws the next training batch; returns its number of labels.
  virtual Index next_batch() = 0;
  /// The mean loss of that batch, on the tape; `probe` as for training_loss().
  virtual Tensor loss(HeadProbe* probe = nullptr) = 0;
  /// Measures of the model on (some of) the validation set: {"validation_loss", and exact_match, or
  /// accuracy, or per and wer}.
  virtual Record evaluate() = 0;
  /// The same measures on the whole test set, the loss as "test_loss"; a text has no test set and
  /// is measured on its whole validation part.
  virtual Record test() = 0;
  /// The measure that decides which model is the best.
  virtual const char* measure() const = 0;
  virtual BestSoFar::Better better() const = 0;
  /// The position in the data: a part of checkpoints.
  virtual Stateful& position() = 0;
  /// The task's entry in a checkpoint; see task_record().
  virtual Record about() const = 0;

  /// The forward pass of a batch under a probe: the sum of its examples' losses.
  using Probed = std::function<Tensor(HeadProbe& probe)>;
  /// Calls `visit` for batches of at most 64 validation examples, `most` examples in all: the
  /// data that importance is measured on.
  virtual void visit_validation(
      Index most, const std::function<void(Index examples, const Probed&)>& visit) = 0;
};

/// Sets the fields of a model's configuration that the task decides: kind, sizes of the
/// vocabularies, longest sequence.
ModelConfig fitted_to(const Task& task, ModelConfig config, const LearnerOptions& options);

/// Builds the model and the learner around it.
std::unique_ptr<Learner> make_learner(Task task, const ModelConfig& config,
                                      const LearnerOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
