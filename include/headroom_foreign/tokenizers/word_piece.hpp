// WordPiece: the tokenizer of BERT and its relatives.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class PieceSearch;
class WordCache;

/// How BERT rewrites a text before it splits it into words.
struct BertRules {
  bool clean_text = true;                  // no control characters, and every kind of space is ' '
  bool handle_chinese_chars = true;        // every Chinese character is a word
  std::optional<bool> strip_accents = {};  // by default if letters become lower case
  bool lowercase = true;
};

/// The settings of WordPiece in a tokenizer file.
struct WordPieceRules {
  BertRules text;
  std::string unknown = "[UNK]";  // the token of a word that the vocabulary cannot spell
  std::string inside = "##";      // how tokens begin that continue a word
  Index longest_word = 100;       // a word of more code points is unknown
  bool tidy = true;               // decoding removes spaces before punctuation
};

/// Splits a text into words at spaces and punctuation, and each word into the longest tokens that
/// fit, from left to right: "unaffable" into "una", "##ffa", "##ble".
class WordPiece final : public ForeignTokenizer {
 public:
  /// Throws UsageError if the unknown token is not in the table.
  WordPiece(TokenizerParts parts, WordPieceRules rules);
  ~WordPiece() override;

  std::string kind_name() const override { return "WordPiece"; }
  const WordPieceRules& rules() const { return rules_; }

 private:
  void append_ids(std::string_view text, Tokens& ids) const override;
  std::string joined(const std::vector<std::string_view>& tokens) const override;
  void append_pieces(std::string_view word, Tokens& ids) const;

  WordPieceRules rules_;
  std::int32_t unknown_;
  std::unique_ptr<PieceSearch> at_begin_, inside_;
  std::unique_ptr<WordCache> cache_;
};

/// The words of BERT: `text` (well-formed UTF-8) rewritten by the rules, and split at spaces, which
/// are no part of a word, and at punctuation characters, each of which is a word.
std::string bert_normalized(std::string_view text, const BertRules& rules);
std::vector<std::string_view> bert_words(std::string_view normalized);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
