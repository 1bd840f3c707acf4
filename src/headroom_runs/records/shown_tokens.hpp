// Tokens as pages show them. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom/data/tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The tokens as the tokenizer spells them, those of ByteBpe as the text of their bytes. In our
/// vocabularies the begin token is ^ and the end token $.
std::vector<std::string> shown_tokens(const Tokenizer& tokenizer, const Tokens& tokens);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
