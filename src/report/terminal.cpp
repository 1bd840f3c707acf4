// Pictures in text for a terminal.
#include "headroom/report/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What the locale says, by the precedence of POSIX. Without any, terminals of today show UTF-8.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = environment(name);
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

/// The code point at `at`, which moves behind it; malformed bytes count as one each.
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

struct Range {
  char32_t first, last;
};
// Unicode 15: the blocks of combining marks and of East Asian wide characters that texts meet.
constexpr std::array<Range, 7> no_columns = {{{0x0300, 0x036F},
                                              {0x0483, 0x0489},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 11> two_columns = {{{0x1100, 0x115F},
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
bool in_any(const std::array<Range, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](Range r) { return r.first <= code && code <= r.last; });
}

/// The marks of an attention map, from the strongest.
struct Shade {
  double from;  // the least weight
  const char *unicode, *ascii;
  const char* in(const TerminalStyle& style) const { return style.unicode ? unicode : ascii; }
};
constexpr Shade shades[] = {{0.6, "█", "#"}, {0.3, "▒", "+"}, {0.1, "░", "-"}};
constexpr const char* faintest = ".";

const char* shade(double weight, const TerminalStyle& style) {
  for (const Shade& shade : shades) {
    if (weight >= shade.from) return shade.in(style);
  }
  return faintest;
}

std::string repeated(const char* text, Index times) {
  std::string result;
  for (Index i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TerminalStyle TerminalStyle::of(std::FILE* stream) {
  TerminalStyle style;
  const std::string term = environment("TERM");
  style.live = isatty(fileno(stream)) != 0 && term != "dumb";
  style.unicode = locale_is_utf8();
  style.colour = style.live && environment("NO_COLOR").empty();
  winsize size{};
  if (style.live && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.columns = size.ws_col;
  }
  return style;
}

std::string emphasised(std::string_view text, Emphasis emphasis, const TerminalStyle& style) {
  if (!style.colour) return std::string(text);
  const char* code = "";
  switch (emphasis) {
    case Emphasis::strong: code = "1"; break;
    case Emphasis::faint: code = "2"; break;
    case Emphasis::good: code = "32"; break;
    case Emphasis::bad: code = "31"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
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

std::string attention_map_text(std::span<const std::string> keys,
                               std::span<const std::string> queries,
                               const std::vector<std::vector<double>>& weights,
                               const TerminalStyle& style, int indent) {
  if (weights.size() != queries.size()) {
    throw ShapeError(fmt::format("attention_map_text: {} rows of weights for {} queries",
                                 weights.size(), queries.size()));
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (weights[i].size() != keys.size()) {
      throw ShapeError(fmt::format("attention_map_text: row {} has {} weights for {} keys", i,
                                   weights[i].size(), keys.size()));
    }
  }
  Index side = 0, columns = 0;
  std::vector<Index> widths;
  for (const std::string& query : queries) side = std::max(side, display_width(query));
  for (const std::string& key : keys) {
    widths.push_back(std::max<Index>(1, display_width(key)));
    columns += widths.back() + 1;
  }
  const Index room = style.columns - indent - side - 1;
  // Single characters may stand side by side when the line is too short for gaps.
  const bool single = std::all_of(widths.begin(), widths.end(), [](Index w) { return w == 1; });
  const std::string gap = columns > room && single ? "" : " ";
  const std::string margin(static_cast<std::size_t>(indent), ' ');

  std::string text;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    // As many keys as fit; the others follow below, under their own line.
    for (Index used = 0; end < keys.size(); ++end) {
      used += widths[end] + static_cast<Index>(gap.size());
      if (used > room && end > begin) break;
    }
    text += margin + std::string(static_cast<std::size_t>(side), ' ') + " ";
    for (std::size_t j = begin; j < end; ++j) text += gap + padded(keys[j], 1);
    text += "\n";
    for (std::size_t i = 0; i < queries.size(); ++i) {
      text += margin + padded(queries[i], side, true) + " ";
      for (std::size_t j = begin; j < end; ++j) {
        text += gap + repeated(shade(weights[i][j], style), widths[j]);
      }
      text += "\n";
    }
    if (end < keys.size()) text += "\n";
  }
  return text;
}

std::string shades_text(const TerminalStyle& style) {
  std::string text;
  for (const Shade& shade : shades)
    text += fmt::format("{} from {}, ", shade.in(style), shade.from);
  return text + faintest + " less";
}

std::string head_grid_text(const std::vector<std::vector<bool>>& alive,
                           const TerminalStyle& style) {
  std::string text;
  for (std::size_t layer = 0; layer < alive.size(); ++layer) {
    if (layer > 0) text += " | ";
    for (std::size_t head = 0; head < alive[layer].size(); ++head) {
      if (head > 0) text += " ";
      text += alive[layer][head] ? emphasised("o", Emphasis::good, style)
                                 : emphasised("x", Emphasis::faint, style);
    }
  }
  return text;
}

std::string table_text(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows,
                       const TerminalStyle& style, int indent) {
  std::vector<Index> widths;
  for (const std::string& title : titles) widths.push_back(display_width(title));
  for (const auto& row : rows) {
    if (row.size() != titles.size()) {
      throw ShapeError(
          fmt::format("table_text: a row of {} cells under {} titles", row.size(), titles.size()));
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      text += (c > 0 ? "   " : "") + padded(cells[c], widths[c], c > 0);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = margin + emphasised(line(titles), Emphasis::faint, style) + "\n";
  for (const auto& row : rows) text += margin + line(row) + "\n";
  return text;
}

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
  const auto whole = static_cast<Index>(std::llround(std::max(0.0, seconds)));
  const Index hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

std::string bar_text(double fraction, int cells) {
  const auto full = static_cast<int>(std::floor(std::clamp(fraction, 0.0, 1.0) * cells + 1e-9));
  return fmt::format("[{:#<{}}{:-<{}}]", "", full, "", cells - full);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
