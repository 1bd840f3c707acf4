// AddedTokens: tokens that are found in a text before it is split, such as <|endoftext|>.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headroom_foreign/tokenizers/token_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A token that stands for its text as a whole.
struct AddedToken {
  std::string text;
  std::int32_t id = 0;
  bool special = true;                                           // decoding leaves it out
  bool takes_spaces_before = false, takes_spaces_after = false;  // mask tokens often do
};

/// A part of a text: an added token, or what is between two of them.
struct TextPart {
  std::string_view text;
  std::optional<std::int32_t> token;
};

/// The added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Throws UsageError for an empty text and for two tokens with the same text.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// Splits a text at its added tokens. Where several begin, the longest is taken. Special tokens
  /// are found only `with_special`.
  std::vector<TextPart> split(std::string_view text, bool with_special) const;
  /// Whether this is the id of a special token.
  bool is_special(std::int32_t id) const;

 private:
  const AddedToken* starting_at(std::string_view text, std::size_t at, bool with_special) const;

  std::unordered_map<std::string, AddedToken, TextHash, std::equal_to<>> by_text_;
  std::vector<std::size_t> lengths_;   // of the texts, longest first
  std::array<bool, 256> begins_ = {};  // whether a token begins with this byte
  std::vector<std::int32_t> special_;  // sorted ids
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
