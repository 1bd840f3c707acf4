// ByteBpe: the tokenizer of GPT-2 and RoBERTa, byte pair encoding of bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class WordCache;

/// Splits a text into words, each with the space before it, and begins with a token for each byte
/// of a word. Then it merges neighbours, again and again the pair that comes first in the list of
/// merges. In the vocabulary, a byte is written as a printable character: "Ġ" is a space.
class ByteBpe final : public ForeignTokenizer {
 public:
  /// Two tokens, as the vocabulary writes them, that become one.
  using MergedPair = std::pair<std::string, std::string>;

  /// The first pair is merged first. With `space_before`, a text that begins with no space gets
  /// one. Throws FileError, naming `origin`, if the table lacks a byte, a token of a pair or the
  /// token that it becomes, and for a pair that occurs twice.
  ByteBpe(TokenizerParts parts, const std::vector<MergedPair>& merges, bool space_before,
          const std::string& origin);
  ~ByteBpe() override;

  std::string kind_name() const override { return "ByteBpe"; }

  /// The token that a pair of neighbours is merged into, and the rank of the merge in the list.
  struct Merge {
    std::int32_t rank = 0, merged = 0;
  };
  /// The merge of two tokens, or null.
  const Merge* merge_of(std::int32_t left, std::int32_t right) const;

 private:
  struct PairHash {
    std::size_t operator()(std::uint64_t pair) const;
  };

  void append_ids(std::string_view text, Tokens& ids) const override;
  std::string joined(const std::vector<std::string_view>& tokens) const override;

  std::array<std::int32_t, 256> byte_ids_ = {};
  std::unordered_map<std::uint64_t, Merge, PairHash> merges_;  // by left << 32 | right
  bool space_before_;
  std::unique_ptr<WordCache> cache_;
};

/// Where the word ends that begins at a byte of a well-formed text, in the words of GPT-2: 's, 't,
/// 're, 've, 'm, 'll or 'd; letters, digits or other characters, each with one space before them;
/// and spaces, of which the last belongs to what comes after them.
std::size_t gpt2_word_end(std::string_view text, std::size_t begin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
