// Vocabulary: symbols and their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A sequence of symbol numbers.
using Tokens = std::vector<std::int32_t>;

/// How a text falls into symbols: code points of UTF-8, or words between spaces.
enum class Symbols { characters, words };

/// Which symbols that no text contains come first in the vocabulary.
enum class Specials {
  none,  // a text model reads and writes plain text only
  bos,   // <bos> = 0 marks both ends of a text
  all    // <pad> = 0, <bos> = 1, <eos> = 2, <unk> = 3: sequence to sequence, classification
};

/// A two-way table of symbols. Special ones are never found in a text, even when it spells them.
class Vocabulary {
 public:
  /// Throws UsageError when a symbol occurs twice.
  Vocabulary(Symbols kind, Specials specials, std::vector<std::string> symbols);
  /// The symbols that occur in `text`, in byte order. Throws DataError for malformed UTF-8.
  static Vocabulary of_text(Symbols kind, Specials specials, std::string_view text);

  /// Number of symbols, specials included.
  Index size() const { return static_cast<Index>(symbols_.size()); }
  Symbols kind() const { return kind_; }
  Specials specials() const { return specials_; }

  /// Throw UsageError when this vocabulary has no such symbol.
  std::int32_t pad() const;
  std::int32_t bos() const;
  std::int32_t eos() const;
  std::int32_t unk() const;

  /// The symbols of a text, known or not. Throws DataError for malformed UTF-8.
  std::vector<std::string> symbols_in(std::string_view text) const;
  /// Whether a symbol is one of those that texts may contain, and how many there are of them.
  bool knows(const std::string& symbol) const { return numbers_.contains(symbol); }
  Index plain_size() const { return static_cast<Index>(numbers_.size()); }

  /// Unknown symbols become <unk>; without one they throw DataError, as malformed UTF-8 does.
  Tokens encode(std::string_view text) const;
  /// The text up to <eos>; other specials are left out. Throws UsageError for a number outside.
  std::string decode(std::span<const std::int32_t> tokens) const;
  /// Throws UsageError for a number outside the vocabulary.
  const std::string& symbol(std::int32_t token) const;

  /// For checkpoints. from_record() throws FileError, naming `origin`, for one that is malformed.
  Record record() const;
  static Vocabulary from_record(const Record& record, const std::string& origin);

 private:
  std::int32_t special(const char* symbol, std::int32_t token) const;

  Symbols kind_;
  Specials specials_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::int32_t> numbers_;  // without the specials
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
