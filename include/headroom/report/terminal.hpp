// Pictures in text: attention maps, grids of heads and small tables for a terminal.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// What the other end of a stream can show.
struct TerminalStyle {
  bool unicode = true;  // shades and dots, else ASCII
  bool colour = false;  // escape sequences: never with NO_COLOR, only on a terminal
  bool live = false;    // a terminal: lines may be rewritten
  int columns = 80;     // width of a line
  /// Looks at the stream, LC_ALL, LC_CTYPE, LANG, TERM and NO_COLOR.
  static TerminalStyle of(std::FILE* stream);
};

/// How a text is emphasised when the style has colour.
enum class Emphasis { strong, faint, good, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TerminalStyle& style);

/// Columns that a UTF-8 text takes on a terminal: wide characters two, combining ones none, escape
/// sequences none.
Index display_width(std::string_view text);
/// The text with spaces after it (before it when `right`) up to a width; longer texts stay whole.
std::string padded(std::string_view text, Index width, bool right = false);

/// An attention map: keys on top, one line per query, a shade per weight (see shades_text).
/// `weights` has a row per query. Every line starts with `indent` spaces and ends with a newline. A
/// map that is too wide for a line goes on below itself, with an empty line between the parts.
/// Throws ShapeError when rows and tokens do not fit.
std::string attention_map_text(std::span<const std::string> keys,
                               std::span<const std::string> queries,
                               const std::vector<std::vector<double>>& weights,
                               const TerminalStyle& style, int indent = 0);

/// What the shades of a map mean: "█ from 0.6, ▒ from 0.3, ░ from 0.1, . less" (ASCII: # + -).
std::string shades_text(const TerminalStyle& style);

/// Which heads of one kind live, by layer: "o x x o | x o x x".
std::string head_grid_text(const std::vector<std::vector<bool>>& alive, const TerminalStyle& style);

/// A table with a line of titles; the first column to the left, the others to the right.
/// Throws ShapeError for a row of another length.
std::string table_text(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows,
                       const TerminalStyle& style, int indent = 0);

/// "1,234,567"
std::string with_commas(Index number);
/// "41 MB", "3.2 GB": powers of 1000, two or three digits.
std::string bytes_text(double bytes);
/// "0:31", "1:02:10"
std::string clock_text(double seconds);
/// "[########------------]"
std::string bar_text(double fraction, int cells = 20);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
