// Heads that a checkpoint names. Private.
#pragma once

#include <span>
#include <string>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws FileError naming `where` unless these are different heads that the model has or had.
void check_saved_heads(Module& model, std::span<const HeadId> heads, const std::string& where);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
