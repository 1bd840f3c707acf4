// UTF-8: finds malformed bytes and splits text into code points.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Position of the first byte that is not part of well-formed UTF-8, if there is one.
/// Overlong forms, surrogates and numbers above U+10FFFF are not well-formed (RFC 3629).
std::optional<std::size_t> find_malformed_utf8(std::string_view text);

/// The code points of well-formed text, each as its own bytes. Throws DataError with the position
/// of the first malformed byte.
std::vector<std::string> code_points(std::string_view text);

/// `text` with U+FFFD for each malformed byte.
std::string well_formed(std::string text);

/// `text` for one line of a message: control characters and malformed bytes become \xNN, and the
/// part beyond `limit` bytes becomes "...".
std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
