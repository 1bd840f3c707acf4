// Tokenizer: what turns texts into ids of tokens and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A sequence of token ids.
using Tokens = std::vector<std::int32_t>;

/// The ids of the tokens with a role, as far as a tokenizer has them: padding, unknown text, the
/// begin and the end of a sequence, a token to be guessed.
struct SpecialIds {
  std::optional<std::int32_t> pad, unk, begin, end, mask;
};

/// Splits texts into tokens. Vocabulary is headroom's own; the library headroom_foreign has those
/// that other programs have written.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// A word for its kind: "characters", "WordPiece".
  virtual std::string kind_name() const = 0;
  /// Number of tokens, specials included.
  virtual Index size() const = 0;
  virtual SpecialIds special_ids() const = 0;

  /// The ids of a text, without special tokens around it. A special token that the text spells is
  /// text like any other. Throws DataError for malformed UTF-8.
  virtual Tokens encode(std::string_view text) const = 0;
  /// The text of ids, without special tokens. Throws UsageError for an id outside the vocabulary.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// Throws UsageError for an id outside the vocabulary.
  virtual const std::string& token(std::int32_t id) const = 0;
  /// The ids of a text with the special tokens that the model expects around them: nothing, or
  /// "[CLS] ... [SEP]".
  virtual Tokens framed(Tokens ids) const { return ids; }

 protected:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
