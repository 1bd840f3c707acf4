// WordPiece: the words of BERT, and their tokens.
#include "headroom_foreign/tokenizers/word_piece.hpp"

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "support/catch.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;

namespace {

using Pieces = std::vector<std::string>;

WordPiece small_bert(const WordPieceRules& rules = {}) {
  std::vector<TokenWithId> tokens;
  for (const std::string& token : bert_tokens) tokens.push_back({token, std::ssize(tokens)});
  TokenizerParts parts{TokenTable(tokens, "test")};
  parts.added = AddedTokens({{.text = "[SEP]", .id = 3}, {.text = "[MASK]", .id = 4}});
  parts.frame = {{2}, {3}};
  return WordPiece(std::move(parts), rules);
}

std::vector<std::string> words_of_bert(const std::string& text, const BertRules& rules = {}) {
  const std::string normalized = bert_normalized(text, rules);
  const auto parts = bert_words(normalized);
  return {parts.begin(), parts.end()};
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> result;
  for (const std::int32_t id : tokenizer.encode(text)) result.push_back(tokenizer.token(id));
  return result;
}

}  // namespace

TEST_CASE("words end at spaces, and punctuation is a word") {
  CHECK(words_of_bert("Hello,  world!\n").size() == 4);
  CHECK(words_of_bert("a\u00a0b\u3000c\u2028d") == Pieces{"a", "b", "c", "d"});
  CHECK(words_of_bert("it's $5 \u2014 \u00bfno?") ==
        Pieces{"it", "'", "s", "$", "5", "\u2014", "\u00bf", "no", "?"});
  CHECK(words_of_bert("x\u20ac+\u00b1") ==
        Pieces{"x\u20ac", "+", "\u00b1"});  // of symbols, only ASCII ones
  CHECK(words_of_bert("").empty());
  CHECK(words_of_bert(" \t").empty());
}

TEST_CASE("controls vanish, and Chinese characters are words") {
  CHECK(words_of_bert(std::string("a\0b\x01\x7F", 5) + "\u200b\u00ad\ufeff\ufffdc\ue000") ==
        Pieces{"abc"});
  CHECK(words_of_bert("a\u0085b") ==
        Pieces{"ab"});  // a control character first, and only then a space
  CHECK(words_of_bert("x\u4e2d\u6587y\u3042\u30a2") ==
        Pieces{"x", "\u4e2d", "\u6587", "y\u3042\u30a2"});
  const BertRules raw{.clean_text = false, .handle_chinese_chars = false};
  CHECK(words_of_bert("a\u0085b\x01 x\u4e2d", raw) == Pieces{"a", "b\x01", "x\u4e2d"});
}

TEST_CASE("accents go with upper case, unless the rules say otherwise") {
  const BertRules cased{.lowercase = false}, accents{.strip_accents = false},
      stripped{.strip_accents = true, .lowercase = false};
  CHECK(words_of_bert("CAF\u00c9 \u1e9b\u0323 \uac00", {}) ==
        Pieces{"cafe", "\u017f", "\u1100\u1161"});
  CHECK(words_of_bert("CAF\u00c9", cased) == Pieces{"CAF\u00c9"});
  CHECK(words_of_bert("CAF\u00c9 \u0130", accents) == Pieces{"caf\u00e9", "i\u0307"});
  CHECK(words_of_bert("CAF\u00c9", stripped) == Pieces{"CAFE"});
  CHECK(words_of_bert("\u0130 \u212a \u03a3\u03a3") == Pieces{"i", "k", "\u03c3\u03c3"});
}

TEST_CASE("marks are sorted by their class before they are removed or kept") {
  // U+1D165 has the class 216 and is a spacing mark, U+0301 is a nonspacing one of class 230, and
  // U+302E a spacing one of class 224.
  CHECK(bert_normalized("x\u302e\u0301\U0001D165", {}) == "x\U0001D165\u302e");
  CHECK(bert_normalized("x\u302e-\U0001D165", {}) == "x\u302e-\U0001D165");
  CHECK(bert_normalized("x\u302e\x01\U0001D165", {}) == "x\U0001D165\u302e");
}

TEST_CASE("a word becomes the longest tokens, or one unknown token") {
  const WordPiece tokenizer = small_bert();
  CHECK(pieces(tokenizer, "unaffable") == Pieces{"un", "##aff", "##able"});
  CHECK(pieces(tokenizer, "The CAF\u00c9, ab!") == Pieces{"the", "cafe", ",", "ab", "!"});
  CHECK(pieces(tokenizer, "abs aba") == Pieces{"ab", "##s", "ab", "##a"});
  CHECK(pieces(tokenizer, "unx the") == Pieces{"[UNK]", "the"});
  CHECK(pieces(tokenizer, "\u00e9") == Pieces{"[UNK]"});  // "e" has no token
  CHECK(tokenizer.encode("").empty());
  CHECK_THROWS_WITH(tokenizer.encode("a\xFF"), "byte 1 of the text is not well-formed UTF-8");
  CHECK_THROWS_AS(tokenizer.encode("a\xFF"), DataError);
}

TEST_CASE("a word of too many characters is unknown") {
  WordPieceRules rules;
  rules.longest_word = 3;
  const WordPiece tokenizer = small_bert(rules);
  CHECK(pieces(tokenizer, "aab aabb") == Pieces{"a", "##a", "##b", "[UNK]"});
  CHECK(pieces(tokenizer, "aba abab") == Pieces{"ab", "##a", "[UNK]"});
  rules.text.lowercase = false;
  CHECK(pieces(small_bert(rules), "\u00e9bb \u00e9bbb") == Pieces{"\u00e9", "##b", "##b", "[UNK]"});
}

TEST_CASE("a word is the same the second time, and from several threads") {
  const WordPiece tokenizer = small_bert();
  std::string text;
  std::vector<std::string> all;
  for (int i = 0; i < 2000; ++i) all.push_back(std::string(std::size_t(1 + i % 90), 'b') + "a");
  for (const std::string& word : all) text += "a" + word + " " + word + " ";
  const Tokens once = tokenizer.encode(text);
  CHECK(tokenizer.encode(text) == once);
  CHECK(small_bert().encode(text) == once);
  std::vector<char> same(64, 0);
  parallel_for(64, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) same[std::size_t(i)] = tokenizer.encode(text) == once;
  });
  CHECK(std::count(same.begin(), same.end(), 1) == 64);
}

TEST_CASE("decoding joins words and their parts, and leaves special tokens out") {
  const WordPiece tokenizer = small_bert();
  CHECK(tokenizer.decode(tokenizer.encode("unaffable, the cafe's!")) == "unaffable, the cafe ' s!");
  CHECK(tokenizer.decode(Tokens{3, 8, 4, 9, 3}) == "the cafe");
  CHECK(tokenizer.decode(Tokens{6, 6}) == "##affaff");  // the first token is written as it is
  CHECK(tokenizer.decode(Tokens{}).empty());
  CHECK_THROWS_WITH(tokenizer.decode(Tokens{99}),
                    "tokenizer: token 99 is outside the vocabulary of 26");
  CHECK_THROWS_AS(tokenizer.token(-1), UsageError);
  WordPieceRules rules;
  rules.tidy = false;
  CHECK(small_bert(rules).decode(Tokens{8, 12, 9, 14}) == "the , cafe !");
}

TEST_CASE("special tokens are found in a text only where that is asked for") {
  const WordPiece tokenizer = small_bert();
  CHECK(pieces(tokenizer, "[MASK] the") == Pieces{"[", "mask", "]", "the"});
  CHECK(tokenizer.encode_with_specials("a[MASK]the [SEP]") == Tokens{10, 4, 8, 3});
  CHECK(tokenizer.framed({8}) == Tokens{2, 8, 3});
  CHECK(tokenizer.kind_name() == "WordPiece");
  CHECK(tokenizer.size() == 26);
}

TEST_CASE("an unknown token that the vocabulary lacks is refused") {
  WordPieceRules rules;
  rules.unknown = "<unk>";
  CHECK_THROWS_WITH(small_bert(rules), "WordPiece: the vocabulary has no token \"<unk>\"");
  TokenizerParts parts{TokenTable({{"[UNK]", 0}}, "test")};
  parts.frame.before = {1};
  CHECK_THROWS_AS(WordPiece(parts, {}), UsageError);
}
