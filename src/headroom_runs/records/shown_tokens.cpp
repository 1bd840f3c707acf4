// Tokens as pages show them.
#include "records/shown_tokens.hpp"

#include "headroom/data/vocabulary.hpp"
#include "headroom_foreign/tokenizers/byte_bpe.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The text of the bytes that a token of ByteBpe stands for. Special tokens, and parts of a
/// character, are written as in the vocabulary.
std::string text_of_bytes(const ByteBpe& tokenizer, std::int32_t token) {
  const std::string text = tokenizer.decode({&token, 1});
  const bool readable = !text.empty() && text.find("\xEF\xBF\xBD") == text.npos;  // U+FFFD
  return readable ? text : tokenizer.token(token);
}

}  // namespace

std::vector<std::string> shown_tokens(const Tokenizer& tokenizer, const Tokens& tokens) {
  const auto* vocabulary = dynamic_cast<const Vocabulary*>(&tokenizer);
  const auto* bytes = dynamic_cast<const ByteBpe*>(&tokenizer);
  const Specials specials = vocabulary == nullptr ? Specials::none : vocabulary->specials();
  std::vector<std::string> shown;
  for (const std::int32_t token : tokens) {
    if (specials != Specials::none && token == vocabulary->bos()) {
      shown.push_back("^");
    } else if (specials == Specials::all && token == vocabulary->eos()) {
      shown.push_back("$");
    } else {
      shown.push_back(bytes == nullptr ? tokenizer.token(token) : text_of_bytes(*bytes, token));
    }
  }
  return shown;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
