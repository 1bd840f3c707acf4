// Numbers, times and bars as text.
#include "headroom/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Returns the code point at `at` and moves `at` behind it. A malformed byte counts as one.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t code = more == 0 ? lead : lead & (0x3Fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte & 0xC0u) != 0x80u) break;
    code = (code << 6) | (byte & 0x3Fu);
    ++at;
  }
  return code;
}

struct CodeRange {
  char32_t first, last;
};
// Unicode 15: the blocks of combining marks and of East Asian wide characters that texts meet.
constexpr std::array<CodeRange, 7> no_columns = {{{0x0300, 0x036F},
                                                  {0x0483, 0x0489},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x1DC0, 0x1DFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F}}};
constexpr std::array<CodeRange, 11> two_columns = {{{0x1100, 0x115F},
                                                    {0x2E80, 0x303E},
                                                    {0x3041, 0x4DBF},
                                                    {0x4E00, 0xA4CF},
                                                    {0xAC00, 0xD7A3},
                                                    {0xF900, 0xFAFF},
                                                    {0xFE30, 0xFE6F},
                                                    {0xFF00, 0xFF60},
                                                    {0x1F300, 0x1F64F},
                                                    {0x1F900, 0x1F9FF},
                                                    {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool in_any(const std::array<CodeRange, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](CodeRange r) { return r.first <= code && code <= r.last; });
}

}  // namespace

std::string with_commas(Index number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool between = i > 0 && digits[i - 1] != '-';
    if (between && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string short_number(double number) {
  if (number < 1e3) return fmt::format("{:.0f}", number);
  return number < 1e6 ? fmt::format("{:.0f}k", number / 1e3) : fmt::format("{:.1f}M", number / 1e6);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return bytes < 9.95 && unit > 0 ? fmt::format("{:.1f} {}", bytes, units[unit])
                                  : fmt::format("{:.0f} {}", bytes, units[unit]);
}

std::string clock_text(double seconds) {
  const auto whole = Index(std::llround(std::max(0.0, seconds)));
  const Index hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

std::string bar_text(double fraction, int cells) {
  const auto full = int(std::floor(std::clamp(fraction, 0.0, 1.0) * cells + 1e-9));
  return fmt::format("[{:#<{}}{:-<{}}]", "", full, "", cells - full);
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

std::string escaped_markup(std::string_view text) {
  std::string markup;
  for (const char c : text) {
    switch (c) {
      case '&': markup += "&amp;"; break;
      case '<': markup += "&lt;"; break;
      case '>': markup += "&gt;"; break;
      case '"': markup += "&quot;"; break;
      default: markup += c;
    }
  }
  return markup;
}

Index display_width(std::string_view text) {
  Index width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {  // to the letter that ends the sequence
      while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) == 0) ++at;
      if (at < text.size()) ++at;
      continue;
    }
    const char32_t code = next_code_point(text, at);
    width += in_any(no_columns, code) ? 0 : in_any(two_columns, code) ? 2 : 1;
  }
  return width;
}

std::string padded(std::string_view text, Index width, bool right) {
  const auto missing = static_cast<std::size_t>(std::max<Index>(0, width - display_width(text)));
  return right ? std::string(missing, ' ').append(text)
               : std::string(text) + std::string(missing, ' ');
}

std::string wrapped(const std::string& text, Index width, Index margin) {
  const std::string before(static_cast<std::size_t>(margin), ' ');
  std::istringstream words(text);
  std::string lines = before;
  Index column = margin;
  for (std::string word; words >> word;) {
    const Index columns = display_width(word);
    if (column > margin && column + 1 + columns > width) {
      lines += "\n" + before;
      column = margin;
    } else if (column > margin) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns;
  }
  return lines;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
