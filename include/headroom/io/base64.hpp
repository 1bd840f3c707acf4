// Base64: bytes as text for JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Encodes three bytes as four characters of A-Z a-z 0-9 + /, padded with =. RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
