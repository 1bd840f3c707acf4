// The common part of the tokenizers of other programs.
#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

ForeignTokenizer::ForeignTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  for (const Tokens& ids : {parts_.frame.before, parts_.frame.after}) {
    for (const std::int32_t id : ids) token(id);
  }
  const auto& [pad, unk, begin, end, mask] = parts_.specials;
  for (const auto& id : {pad, unk, begin, end, mask}) {
    if (id) token(*id);
  }
}

Tokens ForeignTokenizer::framed(Tokens ids) const {
  ids.insert(ids.begin(), parts_.frame.before.begin(), parts_.frame.before.end());
  ids.insert(ids.end(), parts_.frame.after.begin(), parts_.frame.after.end());
  return ids;
}

Tokens ForeignTokenizer::encode(std::string_view text) const { return encoded(text, false); }

Tokens ForeignTokenizer::encode_with_specials(std::string_view text) const {
  return encoded(text, true);
}

void ForeignTokenizer::check_utf8(std::string_view text) {
  if (const auto bad = find_malformed_utf8(text)) {
    throw DataError(fmt::format("byte {} of the text is not well-formed UTF-8", *bad));
  }
}

Tokens ForeignTokenizer::encoded(std::string_view text, bool with_special) const {
  check_utf8(text);
  Tokens ids;
  for (const TextPart& part : parts_.added.split(text, with_special)) {
    if (part.token) {
      ids.push_back(*part.token);
    } else {
      append_ids(part.text, ids);
    }
  }
  return ids;
}

std::string ForeignTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::vector<std::string_view> tokens;
  for (const std::int32_t id : ids) {
    const std::string& text = token(id);
    if (!is_special(id)) tokens.push_back(text);
  }
  return joined(tokens);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
