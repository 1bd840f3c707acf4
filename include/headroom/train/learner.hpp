// Learner: a model with its task's data, for any kind of task.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/base/record.hpp"
#include "headroom/data/task.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/best_so_far.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How batches are drawn and how much is evaluated.
struct LearnerOptions {
  Index batch_size = 64;
  Index accumulate = 1;  // so many batches make one step, each with its own passes
  Index length = 64;     // of windows, for texts
  std::uint64_t seed = 1;
  Index init = 0;  // which draw of initial weights for this seed
  Real label_smoothing = 0;
  Index quick = 1000;  // at most so many examples in evaluate(); test() takes all
};

/// Throws DataError, naming the set, if a task has no examples for training, validation or test: a
/// run would fail after its last step.
void require_examples(const Task& task);

/// Disjoint sets of a task's examples. The task keeps back some examples for validation: a quarter
/// of them is for measuring the importance of heads, a quarter for choosing between pruned models,
/// and the rest decides which model of a run is the best. The final figures are of the test set.
enum class ExampleSet { train, importance, selection, validation, test };

/// Divides the examples that are kept back: those with the lowest hashes of their contents are for
/// measuring the importance of heads, the next for choosing, the others for validation. The order
/// in a file does not matter then, and equal examples are in the same set. Fewer than 1 / `share`
/// examples are all for validation.
std::vector<ExampleSet> held_out_sets(std::span<const std::uint64_t> hashes, double share = 0.25);

/// A batch of examples that a model can be run on under a probe, in the model's present mode.
struct ProbedBatch {
  Index examples = 0;
  /// The example_losses() of the logits, on the tape: [examples].
  std::function<Tensor(HeadProbe& probe)> losses;
  /// Logits [..., V] on the tape, and the labels [...]; ignored_label marks padding.
  std::function<Tensor(HeadProbe& probe)> logits;
  Ids labels;
  /// The batch of these of its examples, in this order. An example may come more than once, so that
  /// it can have several gates [B, H] in one forward pass. Empty if the learner has no such batch.
  std::function<ProbedBatch(std::span<const Index> rows)> picked = {};
  /// The output of an encoder-decoder's encoder, [examples, Ts, C], and losses() from there. It
  /// depends only on the gates of kind encoder_self. Empty for other models.
  std::function<Tensor(HeadProbe& probe)> encoded = {};
  std::function<Tensor(const Tensor& encoded, HeadProbe& probe)> losses_from = {};
};

/// The loss of each example, the sum of the cross-entropies of its labels, [B], from logits
/// [..., V].
Tensor example_losses(const Tensor& logits, const Ids& labels);

/// A batch of examples with labels [B, T], or [B] with one label each. The function computes its
/// logits under a probe; it must stay valid as long as the batch.
ProbedBatch probed(const Ids& labels, std::function<Tensor(HeadProbe& probe)> logits);

/// The interface between a training run and its task. Task and model belong to the learner.
class Learner {
 public:
  virtual ~Learner() = default;

  /// The model that learns.
  virtual Module& model() = 0;
  /// Draws the next training batch, of LearnerOptions::accumulate parts; returns its number of
  /// labels.
  virtual Index next_batch() = 0;
  /// The mean loss of that batch, on the tape; `probe` as for training_loss().
  virtual Tensor loss(HeadProbe* probe = nullptr) = 0;
  /// What one part, from 0, adds to it: the sum of its labels' losses divided by the number of
  /// labels of the whole batch. The gradients of all parts add up to those of loss(). Undefined if
  /// the part has no examples. Of a learner that does not divide its batches, the first part is
  /// all.
  virtual Tensor part_of_loss(Index part, HeadProbe* probe) {
    return part == 0 ? loss(probe) : Tensor();
  }
  /// Measures of the model on (some of) ExampleSet::validation: {"validation_loss", and
  /// exact_match (and of words wer, edits per word), or accuracy, or of g2p per and wer}.
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

  /// Calls `see` for batches of at most 64 examples of a set, `most` examples in all, spread evenly
  /// over the set and the same at every call. Of a text, an example is a window, and the test set
  /// is the whole validation part. Throws UsageError if the set is empty.
  virtual void visit(ExampleSet set, Index most,
                     const std::function<void(const ProbedBatch&)>& see) = 0;
};

/// The losses of at most `most` examples of a set, in the order of Learner::visit(), in evaluation
/// mode and without the tape.
std::vector<double> example_losses(Learner& learner, ExampleSet set, Index most);

/// Sets the fields of a model's configuration that the task decides: kind, sizes of the
/// vocabularies, longest sequence.
ModelConfig fitted_to(const Task& task, ModelConfig config, const LearnerOptions& options);

/// Builds the model and the learner around it.
std::unique_ptr<Learner> make_learner(Task task, const ModelConfig& config,
                                      const LearnerOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
