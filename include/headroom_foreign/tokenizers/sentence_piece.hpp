// SentencePieceTokenizer: the tokenizer of Marian's translation models.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Splits texts of two languages into the pieces of two models of SentencePiece, which share one
/// table of ids. A text may begin with the code of a language, ">>fr<<", which is one token.
class SentencePieceTokenizer final : public ForeignTokenizer {
 public:
  /// Reads the two models. Throws UsageError if headroom was built without SentencePiece, or if
  /// `parts` have no unk; FileError for a file that is no model.
  SentencePieceTokenizer(TokenizerParts parts, const std::filesystem::path& source_model,
                         const std::filesystem::path& target_model);
  ~SentencePieceTokenizer() override;

  std::string kind_name() const override { return "SentencePiece"; }
  /// encode() is for texts of the source language, this one for texts of the target language, which
  /// decode() makes, too.
  Tokens encode_target(std::string_view text) const;

 private:
  struct Models;

  void append_ids(std::string_view text, Tokens& ids) const override;
  std::string joined(const std::vector<std::string_view>& tokens) const override;
  void append_pieces(const std::vector<std::string>& pieces, Tokens& ids) const;

  std::unique_ptr<Models> models_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
