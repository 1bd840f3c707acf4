// Tokens as pages show them.
#include "records/shown_tokens.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<std::string> shown_tokens(const Vocabulary& vocabulary, const Tokens& tokens) {
  const bool has_end = vocabulary.specials() == Specials::all;
  std::vector<std::string> shown;
  for (const std::int32_t token : tokens) {
    if (vocabulary.specials() != Specials::none && token == vocabulary.bos()) {
      shown.push_back("^");
    } else if (has_end && token == vocabulary.eos()) {
      shown.push_back("$");
    } else {
      shown.push_back(vocabulary.token(token));
    }
  }
  return shown;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
