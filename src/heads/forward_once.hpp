// One sequence through a model of any kind. Private.
#pragma once

#include "headroom/data/vocabulary.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A source (or a classifier's input) and what the decoder (or a language model) reads; either may
/// be empty where the kind of model has none.
struct OneSequence {
  Tokens source, target_in;
};

/// Logits, one row per symbol of target_in, or one row of a classifier: [rows, symbols].
Array forward_once(Module& model, const OneSequence& sequence, HeadProbe* probe = nullptr);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
