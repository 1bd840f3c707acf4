// Folding the value bias into the output bias: the cases in which it is exact. Private.
#pragma once

#include <span>

#include "headroom/nn/attention.hpp"
#include "headroom_lab/lab/experiment.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The output bias of a layer of any layout.
Tensor output_bias(Attention& layer);

/// sum_h g_h W_O^h b_V^h, [C]: the contribution of the value biases to every output whose rows of
/// attention sum to one. Without gates g_h = 1.
Array folded_bias(Attention& layer, const Array& gates = {});

/// One way to run a layer.
struct FoldingCase {
  const char* name;
  const char* row_sums;  // sums of the rows of weights that multiply V
  enum class Kind { plain, causal, lengths, empty_rows, gates, dropout } kind;
  bool exact;          // whether b_O + folded_bias() must be the same function without b_V
  const char* repair;  // makes the functions equal again; "" if impossible or not needed
};
std::span<const FoldingCase> folding_cases();

/// Differences of a layer from its twin with b_V = 0 and b_O' = b_O + folded_bias(), max
/// |difference| / max |value|.
struct Folding {
  double difference = 0;
  double repaired = 0;       // the same after the case's repair; without one, the difference
  double of_empty_rows = 0;  // difference of the twin's empty rows from y + folded_bias()
};
Folding fold(const FoldingCase& which, const LabOptions& options, std::uint64_t draw);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
