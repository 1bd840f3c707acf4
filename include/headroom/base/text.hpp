// Numbers, times and bars as text; lines and columns of a text on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// "1,234,567"
std::string with_commas(Index number);
/// "950", "61k", "1.2M": two or three digits of a number that is not negative.
std::string short_number(double number);
/// "41 MB", "3.2 GB": powers of 1000, two or three digits.
std::string bytes_text(double bytes);
/// "0:31", "1:02:10"
std::string clock_text(double seconds);
/// "[########------------]"
std::string bar_text(double fraction, int cells = 20);
/// The text with its first letter in upper case (ASCII only).
std::string capital(std::string text);
/// The text with the characters & < > " as entities, for HTML and XML.
std::string escaped_markup(std::string_view text);

/// Number of columns that a UTF-8 text takes on a terminal: 2 for a wide character, 0 for a
/// combining one and for escape sequences.
Index display_width(std::string_view text);
/// The text with spaces after it (before it when `right`) up to a width. Longer texts stay whole.
std::string padded(std::string_view text, Index width, bool right = false);
/// The text in lines of at most `width` columns, each after `margin` spaces, with no newline at the
/// end. Lines break at spaces; a longer word has its own line.
std::string wrapped(const std::string& text, Index width, Index margin = 0);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
