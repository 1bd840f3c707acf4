// The maps of characters in a model of SentencePiece.
#pragma once

#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws FileError, naming `origin`, unless the bytes are a ModelProto of SentencePiece whose maps
/// of characters (`precompiled_charsmap`) stay within themselves. The library follows the offsets
/// in a map without looking where they lead, so that a hostile model could read any memory.
void check_character_maps(const std::string& model, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
