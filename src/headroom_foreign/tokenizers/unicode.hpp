// Text: UTF-8, and what Unicode says about them, as far as tokenizers ask.
#pragma once

#include <string>
#include <string_view>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A code point and the bytes that it takes in UTF-8.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};

/// The code point that begins at a byte of well-formed text.
CodePoint code_point_at(std::string_view text, std::size_t at);
/// The number of code points of well-formed text.
Index code_points_in(std::string_view text);
/// Appends a code point as UTF-8.
void append_utf8(char32_t c, std::string& text);
/// `bytes` as UTF-8: U+FFFD stands for each of the longest parts that begin a code point and do not
/// complete it, and for each other byte that is malformed.
std::string repaired_utf8(std::string_view bytes);

/// The text with `to` in place of each `from`, from left to right.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// General categories of Unicode. Spaces are those of the property White_Space.
bool is_space(char32_t c);
bool is_letter(char32_t c);
bool is_number(char32_t c);
bool is_punctuation(char32_t c);
bool is_nonspacing_mark(char32_t c);
/// Whether a code point is a control or format character or for private use (Cc, Cf, Co).
bool is_control(char32_t c);

/// The text in canonical decomposition (NFD): an accented letter becomes a letter and an accent.
std::u32string decomposed(const std::u32string& text);
/// Appends the letter in lower case. The only letter that becomes two is U+0130.
void append_lower(char32_t c, std::string& text);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
