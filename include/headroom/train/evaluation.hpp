// Evaluation: losses and scores of a model on examples that it does not learn from.
#pragma once

#include <span>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/data/metrics.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/train/objectives.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// During its lifetime a model is in evaluation mode (no dropout).
class EvalMode {
 public:
  explicit EvalMode(Module& model) : model_(model), before_(model.training()) { model_.eval(); }
  ~EvalMode() { model_.train(before_); }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  Module& model_;
  bool before_;
};

/// During its lifetime a model is in evaluation mode and nothing is put on the tape.
class Evaluating {
 public:
  explicit Evaluating(Module& model) : mode_(model) {}

 private:
  EvalMode mode_;
  NoGrad no_grad_;
};

/// Cross-entropy per label over all batches, without smoothing.
double mean_loss(Seq2Seq& model, std::span<const Seq2SeqBatch> batches);
double mean_loss(LanguageModel& model, std::span<const TextBatch> batches);
double mean_loss(Classifier& model, std::span<const ClassificationBatch> batches);

/// Share of the examples whose most likely class is the right one.
double accuracy(Classifier& model, std::span<const ClassificationBatch> batches);

/// The `beam` most probable outputs for every source (beam_search(); greedy() if it is 1), in the
/// order of the sources. Sources of similar length are decoded together, `batch_size` at a time; at
/// most `longest` tokens each.
std::vector<std::vector<Written>> outputs_for(Seq2Seq& model, std::span<const Tokens> sources,
                                              const Vocabulary& source, const Vocabulary& target,
                                              Index longest, Index beam = 1,
                                              Index batch_size = 128);

/// The same with limits of any kind; sources are padded with `filler`.
std::vector<std::vector<Written>> outputs_for(Seq2Seq& model, std::span<const Tokens> sources,
                                              std::int32_t filler, DecodingLimits limits,
                                              Index beam, Index batch_size);

/// Compares the outputs of greedy decoding with the accepted answers. Decoding stops four tokens
/// after the longest accepted answer.
SequenceScore score_greedily(Seq2Seq& model, std::span<const Seq2SeqQuestion> questions,
                             const Vocabulary& source, const Vocabulary& target,
                             Index batch_size = 128);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
