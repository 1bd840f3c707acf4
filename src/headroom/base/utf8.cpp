// Well-formed UTF-8 by RFC 3629, section 4.
#include "headroom/base/utf8.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

bool within(unsigned byte, unsigned low, unsigned high) { return low <= byte && byte <= high; }

// Length of the well-formed code point at the start of `text`, 0 when there is none.
std::size_t first_length(std::string_view text) {
  const unsigned a = byte_at(text, 0), b = byte_at(text, 1);
  if (text.empty()) return 0;
  if (a < 0x80) return 1;
  const auto continues = [&](std::size_t i) { return within(byte_at(text, i), 0x80, 0xBF); };
  if (within(a, 0xC2, 0xDF)) return continues(1) ? 2 : 0;
  if (within(a, 0xE0, 0xEF)) {  // E0: no overlong forms; ED: no surrogates
    const bool second = within(b, a == 0xE0 ? 0xA0 : 0x80, a == 0xED ? 0x9F : 0xBF);
    return second && continues(2) ? 3 : 0;
  }
  if (within(a, 0xF0, 0xF4)) {  // F0: no overlong forms; F4: nothing above U+10FFFF
    const bool second = within(b, a == 0xF0 ? 0x90 : 0x80, a == 0xF4 ? 0x8F : 0xBF);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::size_t> find_malformed_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = first_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::vector<std::string> code_points(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = first_length(text.substr(at));
    if (length == 0) throw DataError(fmt::format("byte {} is not well-formed UTF-8", at));
    result.emplace_back(text.substr(at, length));
    at += length;
  }
  return result;
}

std::string well_formed(std::string text) {
  std::size_t at = 0;
  while (const auto bad = find_malformed_utf8(std::string_view(text).substr(at))) {
    text.replace(at + *bad, 1, "\uFFFD");
    at += *bad + 3;  // bytes of U+FFFD
  }
  return text;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (result.size() >= limit) return result + "...";
    const std::size_t length = first_length(text.substr(at));
    const unsigned byte = byte_at(text, at);
    const bool c1 = byte == 0xC2 && byte_at(text, at + 1) < 0xA0;  // U+009B begins a sequence too
    if (length == 0 || byte < 0x20 || byte == 0x7F || c1) {
      result += fmt::format("\\x{:02X}", byte);
      at += 1;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
