// ForeignTokenizer: what the tokenizers of other programs have in common.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/data/tokenizer.hpp"
#include "headroom_foreign/tokenizers/added_tokens.hpp"
#include "headroom_foreign/tokenizers/token_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The special tokens that a model expects before and after a text.
struct Frame {
  Tokens before, after;
};

/// The parts that every foreign tokenizer has. All ids are ids of `table`.
struct TokenizerParts {
  TokenTable table;
  AddedTokens added = {};
  Frame frame = {};
  SpecialIds specials = {};
};

/// A tokenizer with the ids of the program that trained it. encode() may run in several threads at
/// the same time.
class ForeignTokenizer : public Tokenizer {
 public:
  Index size() const override { return parts_.table.size(); }
  SpecialIds special_ids() const override { return parts_.specials; }
  const std::string& token(std::int32_t id) const override { return parts_.table.token(id); }
  Tokens framed(Tokens ids) const override;

  Tokens encode(std::string_view text) const override;
  /// encode(), but special tokens that the text spells become their ids. Only for texts that the
  /// caller has composed: others could spell them, too.
  Tokens encode_with_specials(std::string_view text) const;
  /// Bytes that are no UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int32_t> ids) const override;

 protected:
  /// Throws UsageError if one of the parts names an id outside the table.
  explicit ForeignTokenizer(TokenizerParts parts);

  const TokenTable& table() const { return parts_.table; }
  bool is_special(std::int32_t id) const { return parts_.added.is_special(id); }
  /// Throws DataError for malformed UTF-8.
  static void check_utf8(std::string_view text);

 private:
  /// Appends the ids of a text that is well-formed and has no added tokens.
  virtual void append_ids(std::string_view text, Tokens& ids) const = 0;
  /// The text of tokens that are not special.
  virtual std::string joined(const std::vector<std::string_view>& tokens) const = 0;

  Tokens encoded(std::string_view text, bool with_special) const;

  TokenizerParts parts_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
