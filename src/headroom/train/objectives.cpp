// Losses of batches.
#include "headroom/train/objectives.hpp"

#include <algorithm>

#include "headroom/ops/losses.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

CrossEntropyOptions smoothed(Real label_smoothing) {
  return {.label_smoothing = label_smoothing, .ignore_index = ignored_label};
}

}  // namespace

Tensor logits_of(const Seq2Seq& model, const Seq2SeqBatch& batch, HeadProbe* probe) {
  return logits_from(model, batch, encoded(model, batch, probe), probe);
}

Tensor encoded(const Seq2Seq& model, const Seq2SeqBatch& batch, HeadProbe* probe) {
  return model.encode(model.embed_source(batch.source), batch.source_lengths, probe);
}

Tensor logits_from(const Seq2Seq& model, const Seq2SeqBatch& batch, const Tensor& encoded,
                   HeadProbe* probe) {
  if (probe != nullptr) {
    probe->query_lengths = {{AttentionKind::encoder_self, batch.source_lengths},
                            {AttentionKind::decoder_self, batch.target_lengths},
                            {AttentionKind::cross, batch.target_lengths}};
  }
  return model.decode(model.embed_target(batch.target_in), encoded, batch.source_lengths, probe);
}

Tensor logits_of(const LanguageModel& model, const TextBatch& batch, HeadProbe* probe) {
  if (probe != nullptr) probe->query_lengths.clear();
  return model(batch.inputs, probe);
}

Tensor logits_of(const Classifier& model, const ClassificationBatch& batch, HeadProbe* probe) {
  if (probe != nullptr) probe->query_lengths = {{AttentionKind::encoder_self, batch.lengths}};
  return model(batch.tokens, batch.lengths, probe);
}

Tensor training_loss(const Seq2Seq& model, const Seq2SeqBatch& batch, Real label_smoothing,
                     HeadProbe* probe) {
  return cross_entropy(logits_of(model, batch, probe), batch.labels, smoothed(label_smoothing));
}

Tensor training_loss(const LanguageModel& model, const TextBatch& batch, Real label_smoothing,
                     HeadProbe* probe) {
  return cross_entropy(logits_of(model, batch, probe), batch.labels, smoothed(label_smoothing));
}

Tensor training_loss(const Classifier& model, const ClassificationBatch& batch,
                     Real label_smoothing, HeadProbe* probe) {
  return cross_entropy(logits_of(model, batch, probe), batch.labels, smoothed(label_smoothing));
}

Index label_count(const Seq2SeqBatch& batch) { return batch.target_tokens; }

Index label_count(const TextBatch& batch) {
  const auto labels = batch.labels.span();
  return batch.labels.size() - std::count(labels.begin(), labels.end(), ignored_label);
}

Index label_count(const ClassificationBatch& batch) { return batch.labels.size(); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
