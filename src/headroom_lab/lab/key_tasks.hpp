// Tasks for one attention in which the needed keys are known. Private.
#pragma once

#include <vector>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Tokens in a sequence.
inline constexpr Index key_tokens = 6;

/// Sequences, and for every query the contents that it must return.
struct KeyBatch {
  Tensor x;       // [B, T, C]: content of C / 4 numbers N(0, 1), then what leads to the keys
  Tensor values;  // x with its content only: the values cannot tell which relation found a token
  Tensor target;  // [B, T, C / 4 for each relation]: the contents of the needed tokens
  std::vector<std::vector<Index>> keys;  // for each relation [B T]: where they are
};

/// Two relations: the token before (cyclic), and the token that a pointer names, which is never the
/// token before. Position and pointer are points on a circle, two numbers each. Width at least 8.
KeyBatch two_relations(Index examples, Index width, Rng rng);

/// One relation by content: each token has a random key code of C / 4 numbers and the code of
/// another token, which it needs. Width at least 4.
KeyBatch recall(Index examples, Index width, Rng rng);

using KeyTask = KeyBatch (*)(Index examples, Index width, Rng rng);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
