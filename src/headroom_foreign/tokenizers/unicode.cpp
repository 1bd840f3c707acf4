// Unicode by utf8proc.
#include "tokenizers/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool in_categories(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t own = category(c);
  return first <= own && own <= last;
}

unsigned byte_of(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

auto combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// How many bytes of a code point are at the start of `bytes`, which begin none that is complete.
std::size_t begun_bytes(std::string_view bytes) {
  const unsigned first = byte_of(bytes, 0);
  const auto next_within = [&](std::size_t i, unsigned low, unsigned high) {
    return i < bytes.size() && low <= byte_of(bytes, i) && byte_of(bytes, i) <= high;
  };
  if (first < 0xE0 || first > 0xF4) return 1;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (!next_within(1, low, high)) return 1;
  return first >= 0xF0 && next_within(2, 0x80, 0xBF) ? 3 : 2;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const unsigned first = byte_of(text, at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t value = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) value = value << 6 | (byte_of(text, at + i) & 0x3FU);
  return {value, bytes};
}

Index code_points_in(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

void append_utf8(char32_t c, std::string& text) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(bytes.begin(), bytes.begin() + count);
}

std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  while (const auto bad = find_malformed_utf8(bytes)) {
    text += bytes.substr(0, *bad);
    text += "\uFFFD";
    bytes.remove_prefix(*bad);
    bytes.remove_prefix(begun_bytes(bytes));
  }
  return text += bytes;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from)) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

bool is_space(char32_t c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_letter(char32_t c) { return in_categories(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO); }

bool is_number(char32_t c) { return in_categories(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }

bool is_punctuation(char32_t c) {
  return in_categories(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_control(char32_t c) {
  const utf8proc_category_t own = category(c);
  return own == UTF8PROC_CATEGORY_CC || own == UTF8PROC_CATEGORY_CF || own == UTF8PROC_CATEGORY_CO;
}

std::u32string decomposed(const std::u32string& text) {
  std::u32string result;
  std::array<utf8proc_int32_t, 8> parts;  // no code point has more than four
  for (const char32_t c : text) {
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                utf8proc_ssize_t(parts.size()), UTF8PROC_DECOMPOSE, &boundary);
    result.append(parts.begin(), parts.begin() + count);
  }
  // Marks after a letter are sorted by their class, and those of one class keep their order.
  const auto is_mark = [](char32_t c) { return combining_class(c) != 0; };
  for (auto begin = std::ranges::find_if(result, is_mark); begin != result.end();) {
    const auto end = std::find_if_not(begin, result.end(), is_mark);
    std::stable_sort(
        begin, end, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    begin = std::find_if(end, result.end(), is_mark);
  }
  return result;
}

void append_lower(char32_t c, std::string& text) {
  if (c == 0x130) {
    text += "i\u0307";
  } else {
    append_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), text);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
