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

/// The part of one operation in a training step, forward and backward: its time, its arithmetic,
/// and that of the whole step, in multiplications and additions.
struct OperationCost {
  double ms = 0, flops = 0, step_flops = 0;
};
/// Of each model; times are medians of rounds in which the models take turns.
std::vector<OperationCost> operation_costs(const std::vector<Seq2Seq*>& models,
                                           const Seq2SeqBatch& batch, const char* operation,
                                           int rounds);

/// Bytes of a training step: activations and scratch at the peak, and four values per parameter
/// (weight, gradient, two moments).
double step_bytes(Seq2Seq& model, const Seq2SeqBatch& batch);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
