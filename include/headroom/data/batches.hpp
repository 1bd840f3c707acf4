// Batches: examples padded to arrays.
#pragma once

#include <span>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/data/batch_plan.hpp"
#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The label that cross_entropy ignores.
inline constexpr std::int32_t ignored_label = -100;

/// Sequences of unequal lengths, padded to one array.
struct Padded {
  Ids ids;      // [B, T], T the longest (at least 1)
  Ids lengths;  // [B]
};
Padded pad(std::span<const Tokens> rows, std::int32_t filler);

/// Teacher forcing: the decoder reads target_in and should predict labels.
struct Seq2SeqBatch {
  Ids source;                                  // [B, Ts], padded with <pad>
  Ids source_lengths;                          // [B]
  Ids target_in;                               // [B, Tt]: <bos>, target; padded with <pad>
  Ids labels;                                  // [B, Tt]: target, <eos>; padded with -100
  Ids target_lengths;                          // [B], including <eos>
  std::vector<Index> examples;                 // [B], their indices in the set
  Index source_tokens = 0, target_tokens = 0;  // without padding
};
Seq2SeqBatch make_batch(std::span<const Seq2SeqExample> set, std::vector<Index> examples,
                        const Vocabulary& source, const Vocabulary& target);
/// The whole set in batches, sorted by source length: for evaluation.
std::vector<Seq2SeqBatch> evaluation_batches(std::span<const Seq2SeqExample> set, Index batch_size,
                                             const Vocabulary& source, const Vocabulary& target);

/// A batch of labelled sequences.
struct ClassificationBatch {
  Ids tokens;                   // [B, T], padded with <pad>
  Ids lengths;                  // [B]
  Ids labels;                   // [B]
  std::vector<Index> examples;  // [B]
};
ClassificationBatch make_batch(std::span<const LabelledExample> set, std::vector<Index> examples,
                               const Vocabulary& vocabulary);
std::vector<ClassificationBatch> evaluation_batches(std::span<const LabelledExample> set,
                                                    Index batch_size, const Vocabulary& vocabulary);

/// A language model reads inputs and should predict labels, the text one token further on.
struct TextBatch {
  Ids inputs;  // [B, T]
  Ids labels;  // [B, T]; -100 where the text has ended
};
/// The windows of training step `step`, at `batch_size` random positions of the text. They depend
/// on seed and step only, so a checkpoint needs to save only the step. Throws UsageError when the
/// text is not longer than `length`.
TextBatch random_windows(std::span<const std::int32_t> text, Index batch_size, Index length,
                         std::uint64_t seed, Index step);
/// The whole text in windows side by side: every token but the first is a label once.
std::vector<TextBatch> evaluation_windows(std::span<const std::int32_t> text, Index batch_size,
                                          Index length);

/// An endless stream of training batches that follow a BatchPlan. The task must outlive it.
class Seq2SeqLoader {
 public:
  Seq2SeqLoader(const Seq2SeqTask& task, Index batch_size, std::uint64_t seed);
  Seq2SeqBatch next() {
    return make_batch(task_->train, plan.next(), task_->source, task_->target);
  }
  BatchPlan plan;  // the position; save this

 private:
  const Seq2SeqTask* task_;
};

/// Endless batches of the examples for training of a classification task.
class ClassificationLoader {
 public:
  ClassificationLoader(const ClassificationTask& task, Index batch_size, std::uint64_t seed);
  ClassificationBatch next() { return make_batch(task_->train, plan.next(), task_->tokens); }
  BatchPlan plan;

 private:
  const ClassificationTask* task_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
