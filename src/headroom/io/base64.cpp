// Base64 encoding.
#include "headroom/io/base64.hpp"

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string base64(std::span<const std::byte> bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    unsigned group = 0;  // 24 bits, missing bytes as zero
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < here ? std::to_integer<unsigned>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= here ? letters[group >> (18 - 6 * i) & 63u] : '=';
    }
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
