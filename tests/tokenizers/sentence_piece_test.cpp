// SentencePieceTokenizer: Marian's pieces and their ids.
#include "headroom_foreign/tokenizers/sentence_piece.hpp"

#include "headroom/base/error.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "support/catch.hpp"
#include "support/small_marian.hpp"

using namespace headroom;
using Catch::Contains;

#ifdef HEADROOM_HAS_SENTENCEPIECE

TEST_CASE("texts of two languages become pieces of two models with ids of one table") {
  const TemporaryFolder folder;
  write_marian(folder);
  const auto tokenizer = open_tokenizer(folder.path());
  const auto& marian = dynamic_cast<const SentencePieceTokenizer&>(*tokenizer);
  CHECK(marian.kind_name() == "SentencePiece");
  CHECK(marian.encode("the cat") == Tokens{2, 7, 3, 4});
  CHECK(marian.encode_target("die Katze") == Tokens{5, 7, 6});
  CHECK(marian.encode("the x") == Tokens{2, 7, 1});
  CHECK(marian.encode(">>deu<< the") == Tokens{8, 2});
  CHECK(marian.encode(">>fra<< the") == Tokens{1, 2});
  CHECK(marian.encode("the</s>") == Tokens{2, 1});  // </s> is an unknown piece of text
  CHECK(marian.encode_with_specials("the</s>") == Tokens{2, 0});
  CHECK(marian.encode("").empty());
  CHECK(marian.framed({2}) == Tokens{2, 0});
  CHECK(marian.special_ids().pad == 9);
  CHECK(marian.decode(Tokens{9, 5, 7, 6, 0}) == "die Katze");
  CHECK_THROWS_AS(marian.encode_target("\xFF"), DataError);
}

TEST_CASE("broken files of Marian are refused") {
  const TemporaryFolder folder;
  write_marian(folder);
  const auto refused = [&](const std::string& message) {
    CHECK_THROWS_AS(open_tokenizer(folder.path()), FileError);
    CHECK_THROWS_WITH(open_tokenizer(folder.path()), Contains(message));
    write_marian(folder);
  };
  folder.file("source.spm", "not a model");
  refused("source.spm: this is not a model of SentencePiece");
  folder.file("source.spm", sentence_piece_model({{"", -1}}));
  refused("source.spm: this is not a model of SentencePiece");
  folder.file("target.spm", "");
  refused("target.spm");
  std::filesystem::remove(folder / "target.spm");
  refused("target.spm");
  folder.file("vocab.json", R"({"<unk>": 0})");
  refused("vocab.json: the vocabulary lacks <unk> or </s>");
  folder.file("tokenizer_config.json", R"({"separate_vocabs": true})");
  refused("separate_vocabs: headroom does not compute two vocabularies in one tokenizer");
}

TEST_CASE("a map of characters that leads out of itself is refused") {
  const TemporaryFolder folder;
  write_marian(folder);
  const auto tokenizer = open_tokenizer(folder.path());
  CHECK(tokenizer->encode("the Cat") == tokenizer->encode("the cat"));
  CHECK(tokenizer->encode("the Dat") != tokenizer->encode("the cat"));

  const std::string sound = character_map();
  const auto refused = [&](const std::string& map) {
    folder.file("source.spm", marian_source(map));
    CHECK_THROWS_WITH(open_tokenizer(folder.path()), Contains("leads out of itself"));
  };
  const auto changed = [&](std::size_t at, char byte) {
    std::string map = sound;
    map[at] = byte;
    return map;
  };
  const std::size_t leaf = 4 + 4 * (1 ^ 'C'), value = 4 + 4 * (1 ^ 'C' ^ 3);
  refused(changed(7, '\x7F'));              // the root's children
  refused(changed(7, '\xFF'));              // the same, as a value
  refused(changed(leaf + 3, '\x01'));       // those of "C"
  refused(changed(value, '\x02'));          // its text
  refused(changed(sound.size() - 1, 'x'));  // a text without end
  refused(changed(1, '\x08'));              // the size of the trie
  refused(changed(0, '\x01'));
  refused("abc");
  refused(std::string(4, '\0') + "abc");
  folder.file("source.spm", marian_source(sound));
  CHECK_NOTHROW(open_tokenizer(folder.path()));
}

#else

TEST_CASE("without SentencePiece, the message says what to install") {
  const TemporaryFolder folder;
  write_marian(folder);
  CHECK_THROWS_AS(open_tokenizer(folder.path()), UsageError);
  CHECK_THROWS_WITH(open_tokenizer(folder.path()), Contains("install libsentencepiece-dev"));
}

#endif
