// Lists of heads as texts.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// "cross 1.3,decoder 0.0"
std::string heads_text(const std::vector<HeadId>& heads);
/// The heads of such a text. Throws UsageError, naming `origin`, for another text and for a head
/// that is listed twice.
std::vector<HeadId> heads_from(const std::string& text, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
