// WordPiece: words as the longest tokens that fit.
#include "headroom_foreign/tokenizers/word_piece.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "headroom/base/require.hpp"
#include "headroom/base/utf8.hpp"
#include "tokenizers/piece_search.hpp"
#include "tokenizers/unicode.hpp"
#include "tokenizers/word_cache.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// The tokens that begin with `prefix`, without it.
PieceSearch pieces_after(const std::string& prefix, const TokenTable& table) {
  std::vector<PieceSearch::Piece> pieces;
  std::int32_t id = 0;
  for (const std::string& token : table.tokens()) {
    if (token.starts_with(prefix)) pieces.push_back({token.substr(prefix.size()), id});
    ++id;
  }
  return PieceSearch(std::move(pieces));
}

// A token with the space before it, as English is written: " ." becomes "." and " n't" "n't".
void tidy_english(std::string& token) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Pair, 11> pairs = {{{" .", "."},
                                           {" ?", "?"},
                                           {" !", "!"},
                                           {" ,", ","},
                                           {" ' ", "'"},
                                           {" n't", "n't"},
                                           {" 'm", "'m"},
                                           {" do not", " don't"},
                                           {" 's", "'s"},
                                           {" 've", "'ve"},
                                           {" 're", "'re"}}};
  for (const auto& [from, to] : pairs) token = replaced(token, from, to);
}

}  // namespace

WordPiece::WordPiece(TokenizerParts parts, WordPieceRules rules)
    : ForeignTokenizer(std::move(parts)),
      rules_(std::move(rules)),
      at_begin_(std::make_unique<PieceSearch>(pieces_after("", table()))),
      inside_(std::make_unique<PieceSearch>(pieces_after(rules_.inside, table()))),
      cache_(std::make_unique<WordCache>()) {
  const auto unknown = table().find(rules_.unknown);
  require(unknown.has_value(),
          fmt::format("WordPiece: the vocabulary has no token \"{}\"", printable(rules_.unknown)));
  unknown_ = *unknown;
}

WordPiece::~WordPiece() = default;

void WordPiece::append_ids(std::string_view text, Tokens& ids) const {
  const std::string normalized = bert_normalized(text, rules_.text);
  WordCache::Use cache(*cache_);
  for (const std::string_view word : bert_words(normalized)) {
    cache.append_ids(word, ids, [&](std::string_view w, Tokens& into) { append_pieces(w, into); });
  }
}

void WordPiece::append_pieces(std::string_view word, Tokens& ids) const {
  const std::size_t before = ids.size();
  bool known = code_points_in(word) <= rules_.longest_word;
  for (std::size_t at = 0; known && at < word.size();) {
    const PieceSearch& search = at == 0 ? *at_begin_ : *inside_;
    const PieceSearch::Piece* piece = search.longest(word.substr(at));
    known = piece != nullptr;
    if (known) {
      ids.push_back(piece->id);
      at += piece->text.size();
    }
  }
  if (known) return;
  ids.resize(before);  // one part that no token spells makes the whole word unknown
  ids.push_back(unknown_);
}

std::string WordPiece::joined(const std::vector<std::string_view>& tokens) const {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string token(tokens[i]);
    if (i > 0) {
      const bool continues = token.starts_with(rules_.inside);
      token = continues ? token.substr(rules_.inside.size()) : ' ' + token;
    }
    if (rules_.tidy) tidy_english(token);
    text += token;
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
