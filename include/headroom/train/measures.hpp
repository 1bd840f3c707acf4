// The measures of a model other than its loss.
#pragma once

#include <array>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A fraction of the outputs, 0 to 1: its key in metrics, its name in texts and on the progress
/// line.
struct Measure {
  const char *key, *name, *short_name;
  bool higher_is_better;
};

/// All of them, in the order in which they are shown.
inline constexpr std::array quality_measures = {
    Measure{"exact_match", "exact match", "exact", true},
    Measure{"accuracy", "accuracy", "accuracy", true},
    Measure{"per", "phoneme error rate", "PER", false},
    Measure{"wer", "word error rate", "WER", false},
    Measure{"neighbours", "nearest neighbours kept", "neighbours", true}};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
