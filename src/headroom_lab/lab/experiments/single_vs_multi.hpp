// Declarations that the two halves of single-vs-multi share. Private.
#pragma once

#include "headroom_lab/lab/experiment.hpp"
#include "lab/attention_derivation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace single_vs_multi {

inline constexpr Index batch = 2, tokens = 10;  // x = torch.rand(2, 10, 512)

/// Returns true if the sizes are those of the text; some claims hold for these only.
inline bool text_sizes(const LabOptions& options) {
  return options.width == 512 && options.heads == 8;
}

/// Compares the gradients of one head and of several from the same zero-mean weights: derived by
/// hand line by line, head by head with the tape's, and the angles between the two.
void compare_gradients(const LabOptions& options, Notebook& book);

}  // namespace single_vs_multi
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
