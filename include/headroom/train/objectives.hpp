// The training loss of a batch, with teacher forcing for sequences.
#pragma once

#include "headroom/data/batches.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The logits of a batch, on the tape. `probe` is given to every attention of the forward pass, and
/// is told which queries are padding.
Tensor logits_of(const Seq2Seq& model, const Seq2SeqBatch& batch, HeadProbe* probe);
Tensor logits_of(const LanguageModel& model, const TextBatch& batch, HeadProbe* probe);
Tensor logits_of(const Classifier& model, const ClassificationBatch& batch, HeadProbe* probe);

/// The logits of an encoder-decoder in two parts: the encoder's output, [B, Ts, C], and the logits
/// from there.
Tensor encoded(const Seq2Seq& model, const Seq2SeqBatch& batch, HeadProbe* probe);
Tensor logits_from(const Seq2Seq& model, const Seq2SeqBatch& batch, const Tensor& encoded,
                   HeadProbe* probe);

/// Mean cross-entropy of the next tokens (or of the class) without padding, from logits_of().
Tensor training_loss(const Seq2Seq& model, const Seq2SeqBatch& batch, Real label_smoothing = 0,
                     HeadProbe* probe = nullptr);
Tensor training_loss(const LanguageModel& model, const TextBatch& batch, Real label_smoothing = 0,
                     HeadProbe* probe = nullptr);
Tensor training_loss(const Classifier& model, const ClassificationBatch& batch,
                     Real label_smoothing = 0, HeadProbe* probe = nullptr);

/// How many labels of a batch count: the divisor of its mean loss.
Index label_count(const Seq2SeqBatch& batch);
Index label_count(const TextBatch& batch);
Index label_count(const ClassificationBatch& batch);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
