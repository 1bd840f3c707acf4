// One sequence through a model of any kind. Private.
#pragma once

#include "headroom/data/vocabulary.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A source (or a classifier's input) and what the decoder (or a language model) reads; either is
/// empty if the kind of model has none.
struct OneSequence {
  Tokens source, target_in;
};

/// Logits: one row per token of target_in, [rows, tokens], a classifier's row, [1, classes], or a
/// masked language model's rows, one per token of source. Of a TextEncoder: its hidden states.
Array forward_once(Module& model, const OneSequence& sequence, HeadProbe* probe = nullptr);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
