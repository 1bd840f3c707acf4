// Tokens as pages show them. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom/data/vocabulary.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The tokens' texts, the begin token as ^ and the end token as $.
std::vector<std::string> shown_tokens(const Vocabulary& vocabulary, const Tokens& tokens);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
