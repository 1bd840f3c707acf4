// Numbers, times and bars as text, and the columns that a text takes on a terminal.
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

/// Number of columns that a UTF-8 text takes on a terminal: 2 for a wide character, 0 for a
/// combining one and for escape sequences.
Index display_width(std::string_view text);
/// The text with spaces after it (before it when `right`) up to a width. Longer texts stay whole.
std::string padded(std::string_view text, Index width, bool right = false);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
