// ByteBpe: the words of GPT-2, and the merges of their bytes.
#include "headroom_foreign/tokenizers/byte_bpe.hpp"

#include <algorithm>
#include <random>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;

namespace {

using Words = std::vector<std::string>;

ByteBpe small_bpe(const Words& merges = bpe_merges, bool space_before = false) {
  std::vector<TokenWithId> tokens;
  Words all = byte_tokens();
  std::vector<ByteBpe::MergedPair> pairs;
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ');
    pairs.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    const std::string merged = pairs.back().first + pairs.back().second;
    if (std::find(all.begin(), all.end(), merged) == all.end()) all.push_back(merged);
  }
  all.push_back("<|endoftext|>");
  for (const std::string& token : all) tokens.push_back({token, std::ssize(tokens)});
  TokenizerParts parts{TokenTable(tokens, "test")};
  const auto end = static_cast<std::int32_t>(tokens.size() - 1);
  parts.added = AddedTokens({{.text = "<|endoftext|>", .id = end}});
  return ByteBpe(std::move(parts), pairs, space_before, "test");
}

Words gpt2_words(const std::string& text) {
  Words result;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = gpt2_word_end(text, begin);
    result.push_back(text.substr(begin, end - begin));
  }
  return result;
}

Words bpe_tokens_of(const Tokenizer& tokenizer, const std::string& text) {
  Words result;
  for (const std::int32_t id : tokenizer.encode(text)) result.push_back(tokenizer.token(id));
  return result;
}

// The same merges in the plainest way: look at all pairs, merge the first of the lowest rank.
Words merged_plainly(Words word, const Words& merges) {
  while (true) {
    std::size_t best = merges.size(), where = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const auto found = std::find(merges.begin(), merges.end(), word[i] + " " + word[i + 1]);
      const auto rank = std::size_t(found - merges.begin());
      if (rank < best) {
        best = rank;
        where = i;
      }
    }
    if (best == merges.size()) return word;
    word[where] += word[where + 1];
    word.erase(word.begin() + std::ptrdiff_t(where) + 1);
  }
}

}  // namespace

TEST_CASE("words of GPT-2 take the space before them") {
  CHECK(gpt2_words("Hello  world, 12x!") == Words{"Hello", " ", " world", ",", " 12", "x", "!"});
  CHECK(gpt2_words("it's we'll 'tis I'D") ==
        Words{"it", "'s", " we", "'ll", " '", "tis", " I", "'", "D"});
  CHECK(gpt2_words("'re've'm'd't''s") == Words{"'re", "'ve", "'m", "'d", "'t", "''", "s"});
  CHECK(gpt2_words("a \n b\t\tc\n") == Words{"a", " \n", " b", "\t", "\t", "c", "\n"});
  CHECK(gpt2_words("   ") == Words{"   "});
  CHECK(gpt2_words("a   ") == Words{"a", "   "});
  CHECK(gpt2_words(" \u00a0x") == Words{" ", "\u00a0", "x"});
  CHECK(gpt2_words("\u00e9t\u00e9 \u4e2d\u0663\u00bd\u20ac") ==
        Words{"\u00e9t\u00e9", " \u4e2d", "\u0663\u00bd", "\u20ac"});
  CHECK(gpt2_words("e\u0301") == Words{"e", "\u0301"});  // a mark is no letter
  CHECK(gpt2_words(" ") == Words{" "});
}

TEST_CASE("the pair with the lowest rank is merged first, the leftmost of equal ones") {
  const ByteBpe tokenizer = small_bpe();
  CHECK(bpe_tokens_of(tokenizer, "abc") == Words{"abc"});
  CHECK(bpe_tokens_of(tokenizer, "bcab") == Words{"bc", "ab"});
  CHECK(bpe_tokens_of(tokenizer, "aaaaa") == Words{"aa", "aaa"});
  CHECK(bpe_tokens_of(tokenizer, "the the") == Words{"t", "he", "\u0120the"});
  CHECK(bpe_tokens_of(small_bpe(bpe_merges, true), "the the") == Words{"\u0120the", "\u0120the"});
  CHECK(bpe_tokens_of(small_bpe(bpe_merges, true), " the") == Words{"\u0120the"});
  CHECK(bpe_tokens_of(tokenizer, "\u00e9") == Words{"\u00c3", "\u00a9"});
  CHECK(tokenizer.encode("").empty());
  CHECK(small_bpe(bpe_merges, true).encode("").empty());
  CHECK_THROWS_AS(tokenizer.encode("\xC3"), DataError);
}

TEST_CASE("merging with a heap gives what the plainest way gives") {
  std::mt19937 draw(7);
  for (int round = 0; round < 30; ++round) {
    // Merges in any order, also such as no training makes.
    Words known = {"a", "b", "c"}, merges;
    while (merges.size() < 12) {
      const std::string left = known[draw() % known.size()], right = known[draw() % known.size()];
      const std::string merge = left + " " + right;
      if (std::find(merges.begin(), merges.end(), merge) != merges.end()) continue;
      merges.insert(merges.begin() + std::ptrdiff_t(draw() % (merges.size() + 1)), merge);
      if (std::find(known.begin(), known.end(), left + right) == known.end()) {
        known.push_back(left + right);
      }
    }
    const ByteBpe tokenizer = small_bpe(merges);
    for (int i = 0; i < 30; ++i) {
      Words word;
      std::string text;
      for (auto n = 1 + draw() % 40; n > 0; --n) word.push_back({char('a' + draw() % 3)});
      for (const std::string& letter : word) text += letter;
      INFO(text);
      CHECK(bpe_tokens_of(tokenizer, text) == merged_plainly(word, merges));
    }
  }
}

TEST_CASE("a word of a million letters takes seconds, not hours") {
  const ByteBpe tokenizer = small_bpe();
  CHECK(tokenizer.encode(std::string(1'000'000, 'a')).size() == 500'000);
  CHECK(tokenizer.encode(std::string(1'000'000, ' ')).size() == 1'000'000);
}

TEST_CASE("decoding gives the bytes of the text") {
  const ByteBpe tokenizer = small_bpe();
  std::string all;
  for (char c = 0; c < 127; ++c) all += c;
  all += "\u0080\u00e9\u4e2d\U0001f600 the  abc";
  CHECK(tokenizer.decode(tokenizer.encode(all)) == all);
  const Tokens euro = tokenizer.encode("\u20ac");  // three bytes
  REQUIRE(euro.size() == 3);
  CHECK(tokenizer.decode(Tokens{euro[0], euro[1]}) == "\ufffd");
  CHECK(tokenizer.decode(Tokens{euro[1], euro[0], 'a'}) ==
        "\ufffd\ufffd"
        "a");
  CHECK_THROWS_AS(tokenizer.decode(Tokens{1000}), UsageError);
}

TEST_CASE("the end of a text is a token only where that is asked for") {
  const ByteBpe tokenizer = small_bpe();
  const auto end = std::int32_t(tokenizer.size() - 1);
  CHECK(bpe_tokens_of(tokenizer, "<|endoftext|>").size() == 13);
  CHECK(tokenizer.encode_with_specials("a<|endoftext|>") ==
        Tokens{tokenizer.encode("a").front(), end});
  CHECK(tokenizer.decode(Tokens{end}).empty());
}

TEST_CASE("special tokens may take the spaces around them, and the longest is found") {
  AddedToken mask{.text = "<mask>", .id = 1};
  mask.takes_spaces_before = mask.takes_spaces_after = true;
  const AddedTokens added(
      {mask, {.text = "<m", .id = 2, .special = false}, {.text = "<", .id = 3}});
  const auto parts_of = [&](const std::string& text, bool with_special) {
    std::string result;
    for (const TextPart& part : added.split(text, with_special)) {
      result += "|" + (part.token ? std::to_string(*part.token) : std::string(part.text));
    }
    return result;
  };
  CHECK(parts_of("a \u00a0<mask> b<mx<", true) == "|a|1|b|2|x|3");
  CHECK(parts_of("a <mask> b<mx<", false) == "|a |2|ask> b|2|x<");
  CHECK(parts_of(" <mask> ", true) == "|1");
  CHECK(parts_of("", true).empty());
  CHECK(added.is_special(1));
  CHECK_FALSE(added.is_special(2));
  CHECK_THROWS_WITH(AddedTokens({{.text = "x"}, {.text = "x"}}),
                    "added tokens: \"x\" occurs twice");
  CHECK_THROWS_AS(AddedTokens({{.text = ""}}), UsageError);
}
