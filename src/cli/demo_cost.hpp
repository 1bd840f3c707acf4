// The cost of a training step: time, time inside an operation, memory.
#pragma once

#include <vector>

#include "headroom/data/batches.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Median wall time in ms of training steps (forward, backward, AdamW), the models taking turns.
/// The models are not changed.
std::vector<double> median_step_ms(const std::vector<Seq2Seq*>& models, const Seq2SeqBatch& batch,
                                   int rounds);

/// Milliseconds per step inside one operation, forward and backward.
double operation_ms(Seq2Seq& model, const Seq2SeqBatch& batch, const char* operation, int rounds);

/// Bytes of a training step: activations and scratch at the peak, and four values per parameter
/// (weight, gradient, two moments).
double step_bytes(Seq2Seq& model, const Seq2SeqBatch& batch);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
