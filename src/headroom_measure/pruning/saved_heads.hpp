// Heads and events that a checkpoint names. Private.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom_measure/pruning/pruner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws FileError naming `where` unless these are different heads that the model has or had.
void check_saved_heads(Module& model, std::span<const HeadId> heads, const std::string& where);

/// Throws DataError or FileError for a saved timeline that the record of a run could not hold, or
/// that does not end in the removed ones of `heads`.
void check_saved_timeline(const std::vector<PruningEvent>& timeline,
                          const std::vector<HeadHistory>& heads, const StateReader& from);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
