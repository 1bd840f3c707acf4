// Vocabularies: tokens and their ids.
#include "headroom/data/vocabulary.hpp"

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Contains;

TEST_CASE("characters are code points, the specials come first") {
  const auto vocabulary =
      Vocabulary::of_text(TokenKind::characters, Specials::all, "caf\xC3\xA9 caf\xC3\xA9");
  CHECK(vocabulary.size() == 4 + 5);
  CHECK(vocabulary.pad() == 0);
  CHECK(vocabulary.bos() == 1);
  CHECK(vocabulary.eos() == 2);
  CHECK(vocabulary.unk() == 3);
  CHECK(vocabulary.token(4) == " ");
  CHECK(vocabulary.encode("fac\xC3\xA9") == Tokens{7, 5, 6, 8});
  CHECK(vocabulary.decode(vocabulary.encode("fac\xC3\xA9 ")) == "fac\xC3\xA9 ");
}

TEST_CASE("bytes are tokens that are texts, and become the same bytes again") {
  std::string bytes, all;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (int byte = 0; byte < 128; ++byte) all += static_cast<char>(byte);
  all += "\u0080\u00e9\u07ff\uffff\U0010ffff\\xC3";
  const auto vocabulary = Vocabulary::of_text(TokenKind::bytes, Specials::all, bytes);
  CHECK(vocabulary.plain_size() == 256);
  CHECK(vocabulary.decode(vocabulary.encode(all)) == all);
  CHECK(vocabulary.encode("\u00e9").size() == 2);
  CHECK(vocabulary.tokens_in("\xC3") == std::vector<std::string>{"\\xC3"});
  CHECK(vocabulary.decode(vocabulary.encode("a\xC3 \xFF\xA9\u00e9")) ==
        "a\uFFFD \uFFFD\uFFFD\u00e9");
  for (const std::string& token : vocabulary.tokens_in(bytes))
    CHECK_FALSE(find_malformed_utf8(token));
  const Vocabulary again = Vocabulary::from_record(vocabulary.record(), "test");
  CHECK(again.decode(again.encode(all)) == all);
}

TEST_CASE("words are what stands between spaces") {
  const auto vocabulary = Vocabulary::of_text(TokenKind::words, Specials::all, " AH  B\tAH ");
  CHECK(vocabulary.size() == 4 + 2);
  CHECK(vocabulary.encode("B AH B") == Tokens{5, 4, 5});
  CHECK(vocabulary.decode(Tokens{5, 4}) == "B AH");
}

TEST_CASE("decoding stops at the end and leaves the other specials out") {
  const auto vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::all, "ab");
  CHECK(vocabulary.decode(Tokens{1, 4, 3, 5, 0, 2, 4}) == "ab");
  CHECK(vocabulary.decode(Tokens{}).empty());
  CHECK_THROWS_WITH(vocabulary.decode(Tokens{6}),
                    "vocabulary: token 6 is outside the vocabulary of 6");
  CHECK_THROWS_AS(vocabulary.token(-1), UsageError);
}

TEST_CASE("a text that spells a special token does not get it") {
  const auto vocabulary = Vocabulary::of_text(TokenKind::words, Specials::all, "a b");
  CHECK(vocabulary.encode("<eos> a") == Tokens{vocabulary.unk(), 4});
}

TEST_CASE("unknown tokens become <unk>, or are refused where there is none") {
  const auto all = Vocabulary::of_text(TokenKind::characters, Specials::all, "ab");
  const auto none = Vocabulary::of_text(TokenKind::characters, Specials::none, "ab");
  const auto bos = Vocabulary::of_text(TokenKind::characters, Specials::bos, "ab");
  CHECK(all.encode("axb") == Tokens{4, 3, 5});
  CHECK(none.encode("ab") == Tokens{0, 1});
  CHECK(bos.encode("ab") == Tokens{1, 2});
  CHECK(bos.bos() == 0);
  CHECK_THROWS_WITH(none.encode("a\n"),
                    "\"\\x0A\" is not one of the 2 tokens in the model's vocabulary");
  CHECK_THROWS_AS(none.encode("\xFF"), DataError);
  CHECK_THROWS_WITH(bos.eos(), "vocabulary: it has no <eos>");
  CHECK_THROWS_AS(none.bos(), UsageError);
}

TEST_CASE("a token twice is refused") {
  CHECK_THROWS_WITH(Vocabulary(TokenKind::words, Specials::none, {"a", "b", "a"}),
                    "vocabulary: token \"a\" occurs twice");
}

TEST_CASE("a vocabulary comes back from its record, and a malformed record is refused") {
  const Specials specials = GENERATE(Specials::none, Specials::bos, Specials::all);
  const TokenKind kind = GENERATE(TokenKind::characters, TokenKind::words, TokenKind::bytes);
  const Vocabulary vocabulary(kind, specials, {"b", "\xC3\xA9", "\n", "\""});
  const Record record = parse_json(vocabulary.record().dump(), "x");
  const Vocabulary read = Vocabulary::from_record(record, "x");
  CHECK(read.record() == vocabulary.record());
  CHECK(read.size() == vocabulary.size());
  CHECK(read.kind() == kind);
  CHECK(read.specials() == specials);

  Record broken = record;
  broken["tokens"] = 3;
  CHECK_THROWS_WITH(Vocabulary::from_record(broken, "x"), Contains("x: not a vocabulary"));
  broken["tokens"] = {"a", 3};
  CHECK_THROWS_WITH(Vocabulary::from_record(broken, "x"),
                    "x: token 1 of the vocabulary is not a text");
  broken["tokens"] = {"a", "a"};
  CHECK_THROWS_AS(Vocabulary::from_record(broken, "x"), FileError);
  broken = record;
  broken["specials"] = "some";
  CHECK_THROWS_AS(Vocabulary::from_record(broken, "x"), FileError);
  broken.erase("kind");
  CHECK_THROWS_WITH(Vocabulary::from_record(broken, "x"), "x: \"kind\" is missing");
}

TEST_CASE("a text falls into tokens whether they are known or not") {
  const Vocabulary letters(TokenKind::characters, Specials::all, {"a", "\u00e9"});
  CHECK(letters.tokens_in("\u00e9 a") == std::vector<std::string>{"\u00e9", " ", "a"});
  CHECK(letters.knows("\u00e9"));
  CHECK(!letters.knows(" "));
  CHECK(!letters.knows("<eos>"));
  CHECK(letters.plain_size() == 2);
  const Vocabulary words(TokenKind::words, Specials::none, {"one"});
  CHECK(words.tokens_in(" one  two ") == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a vocabulary is a tokenizer") {
  const Vocabulary all(TokenKind::words, Specials::all, {"a"});
  const Vocabulary bos(TokenKind::characters, Specials::bos, {"a"});
  const Vocabulary none(TokenKind::bytes, Specials::none, {"a"});
  const Tokenizer& tokenizer = all;
  CHECK(tokenizer.kind_name() == "words");
  CHECK(tokenizer.size() == 5);
  CHECK(tokenizer.framed(tokenizer.encode("a")) == Tokens{4});
  CHECK(tokenizer.special_ids().pad == 0);
  CHECK(tokenizer.special_ids().begin == 1);
  CHECK(tokenizer.special_ids().end == 2);
  CHECK(tokenizer.special_ids().unk == 3);
  CHECK_FALSE(tokenizer.special_ids().mask.has_value());
  CHECK(bos.special_ids().begin == 0);
  CHECK(bos.special_ids().end == 0);
  CHECK_FALSE(bos.special_ids().pad.has_value());
  CHECK_FALSE(none.special_ids().begin.has_value());
  CHECK_FALSE(none.special_ids().end.has_value());
}
