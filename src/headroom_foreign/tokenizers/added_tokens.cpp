// Added tokens in a text: at each byte, the longest that begins there.
#include "headroom_foreign/tokenizers/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/require.hpp"
#include "headroom/base/utf8.hpp"
#include "tokenizers/unicode.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::size_t byte_index(char c) { return static_cast<unsigned char>(c); }

// Where the spaces at the end of text[0, end) begin, but not before `begin`.
std::size_t before_spaces(std::string_view text, std::size_t begin, std::size_t end) {
  while (end > begin) {
    std::size_t last = end - 1;
    while (last > begin && (byte_index(text[last]) & 0xC0U) == 0x80U) --last;
    if (!is_space(code_point_at(text, last).value)) break;
    end = last;
  }
  return end;
}

std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const auto [c, bytes] = code_point_at(text, at);
    if (!is_space(c)) break;
    at += bytes;
  }
  return at;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
  std::set<std::size_t, std::greater<>> lengths;
  for (AddedToken& token : tokens) {
    require(!token.text.empty(), "added tokens: a token is empty");
    lengths.insert(token.text.size());
    begins_[byte_index(token.text.front())] = true;
    if (token.special) special_.push_back(token.id);
    const std::string text = token.text;
    require(by_text_.emplace(text, std::move(token)).second,
            fmt::format("added tokens: \"{}\" occurs twice", printable(text)));
  }
  lengths_.assign(lengths.begin(), lengths.end());
  std::ranges::sort(special_);
}

bool AddedTokens::is_special(std::int32_t id) const {
  return std::ranges::binary_search(special_, id);
}

const AddedToken* AddedTokens::starting_at(std::string_view text, std::size_t at,
                                           bool with_special) const {
  if (!begins_[byte_index(text[at])]) return nullptr;
  for (const std::size_t length : lengths_) {
    if (length > text.size() - at) continue;
    const auto found = by_text_.find(text.substr(at, length));
    if (found == by_text_.end()) continue;
    if (with_special || !found->second.special) return &found->second;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::split(std::string_view text, bool with_special) const {
  std::vector<TextPart> parts;
  std::size_t begin = 0;  // of the text that is in no part yet
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = starting_at(text, at, with_special);
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t end = at + token->text.size();
    if (token->takes_spaces_before) at = before_spaces(text, begin, at);
    if (token->takes_spaces_after) end = after_spaces(text, end);
    if (at > begin) parts.push_back({text.substr(begin, at - begin), std::nullopt});
    parts.push_back({text.substr(at, end - at), token->id});
    begin = at = end;
  }
  if (begin < text.size()) parts.push_back({text.substr(begin), std::nullopt});
  return parts;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
