// Text of a head's location.
#include "headroom/base/head_id.hpp"

#include <fmt/format.h>

namespace headroom {
inline namespace HEADROOM_PRECISION {

const char* name_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self: return "encoder";
    case AttentionKind::decoder_self: return "decoder";
    case AttentionKind::cross: return "cross";
  }
  return "?";
}

std::string HeadId::text() const { return fmt::format("{} {}.{}", name_of(kind), layer, head); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
