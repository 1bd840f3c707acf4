// The abilities of the terminal behind a stream.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The abilities of the terminal or file behind a stream.
struct TerminalStyle {
  bool unicode = true;  // shades and dots, else ASCII
  bool colour = false;  // escape sequences: never with NO_COLOR, only on a terminal
  bool live = false;    // a terminal: lines may be rewritten
  int columns = 80;     // width of a line
  /// Looks at the stream, LC_ALL, LC_CTYPE, LANG, TERM and NO_COLOR.
  static TerminalStyle of(std::FILE* stream);
  /// Returns false when the environment variable NO_COLOR is set (no-color.org).
  static bool colour_allowed();
};

/// How a text is emphasised when the style has colour.
enum class Emphasis { strong, faint, good, bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
