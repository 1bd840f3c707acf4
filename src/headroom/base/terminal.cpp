// The abilities of the terminal behind a stream.
#include "headroom/base/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns whether the locale is UTF-8, by the precedence of POSIX. Without any locale, terminals
/// of today show UTF-8.
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

}  // namespace

bool TerminalStyle::colour_allowed() { return environment("NO_COLOR").empty(); }

TerminalStyle TerminalStyle::of(std::FILE* stream) {
  TerminalStyle style;
  const std::string term = environment("TERM");
  style.live = isatty(fileno(stream)) != 0 && !term.empty() && term != "dumb";
  style.unicode = locale_is_utf8();
  style.colour = style.live && colour_allowed();
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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
