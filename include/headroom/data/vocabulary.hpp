// Vocabulary: tokens and their ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headroom/base/record.hpp"
#include "headroom/data/tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How a text is split into tokens: code points of UTF-8, words between spaces, or bytes. The token
/// of a byte from 128 is its number, such as "\xC3", so that every token is a text.
enum class TokenKind { characters, words, bytes };

/// The special tokens, which come first in the vocabulary and occur in no text.
enum class Specials {
  none,  // a text model reads and generates plain text only
  bos,   // <bos> = 0 marks both ends of a text
  all    // <pad> = 0, <bos> = 1, <eos> = 2, <unk> = 3: sequence to sequence, classification
};

/// Maps tokens to ids and back. Special tokens are never found in a text, even if it spells them.
class Vocabulary final : public Tokenizer {
 public:
  /// Throws UsageError when a token occurs twice.
  Vocabulary(TokenKind kind, Specials specials, std::vector<std::string> tokens);
  /// The tokens that occur in `text`, in byte order. Throws DataError for malformed UTF-8.
  static Vocabulary of_text(TokenKind kind, Specials specials, std::string_view text);

  /// Number of tokens, specials included.
  Index size() const override { return Index(tokens_.size()); }
  TokenKind kind() const { return kind_; }
  Specials specials() const { return specials_; }
  std::string kind_name() const override;
  SpecialIds special_ids() const override;

  /// Throw UsageError when this vocabulary has no such token.
  std::int32_t pad() const;
  std::int32_t bos() const;
  std::int32_t eos() const;
  std::int32_t unk() const;

  /// Splits a text into tokens, whether or not they are in the vocabulary. Throws DataError for
  /// malformed UTF-8.
  std::vector<std::string> tokens_in(std::string_view text) const;
  /// Returns whether a token is in the vocabulary and not special; the number of such tokens.
  bool knows(const std::string& token) const { return ids_.contains(token); }
  Index plain_size() const { return Index(ids_.size()); }

  /// Ids of the tokens of a text, <unk> for unknown ones. Throws DataError for an unknown token if
  /// there is no <unk>, and for malformed UTF-8.
  Tokens encode(std::string_view text) const override;
  /// The text up to <eos>, without other specials; bytes that are no UTF-8 become U+FFFD. Throws
  /// UsageError for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids) const override;
  /// Throws UsageError for an id outside the vocabulary.
  const std::string& token(std::int32_t id) const override;

  /// For checkpoints. from_record() throws FileError, naming `origin`, for a malformed record.
  Record record() const;
  static Vocabulary from_record(const Record& record, const std::string& origin);

 private:
  std::int32_t special(const char* token, std::int32_t id) const;

  TokenKind kind_;
  Specials specials_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;  // without the specials
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
