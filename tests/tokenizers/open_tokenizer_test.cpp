// open_tokenizer(): which tokenizer a folder has, and what its other files add.
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"

#include "headroom/base/error.hpp"
#include "headroom_foreign/tokenizers/byte_bpe.hpp"
#include "headroom_foreign/tokenizers/word_piece.hpp"
#include "support/catch.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;

namespace {

const char* const text = "The unaffable CAF\u00c9, abc <|endoftext|> [MASK]";

std::unique_ptr<ForeignTokenizer> open_json(const Record& file) {
  const TemporaryFolder folder;
  write_json(folder, file);
  return open_tokenizer(folder.path());
}

}  // namespace

TEST_CASE("vocab.txt and tokenizer.json give the same WordPiece") {
  const TemporaryFolder folder;
  folder.file("vocab.txt", lines(bert_tokens));
  const auto plain = open_tokenizer(folder.path());
  const auto json = open_json(bert_json());
  for (const auto* tokenizer : {plain.get(), json.get()}) {
    CHECK(tokenizer->kind_name() == "WordPiece");
    CHECK(tokenizer->size() == 26);
    CHECK(tokenizer->special_ids().pad == 0);
    CHECK(tokenizer->special_ids().unk == 1);
    CHECK(tokenizer->special_ids().begin == 2);
    CHECK(tokenizer->special_ids().end == 3);
    CHECK(tokenizer->special_ids().mask == 4);
    CHECK(tokenizer->framed({8}) == Tokens{2, 8, 3});
    CHECK(tokenizer->decode(Tokens{2, 8, 9, 0, 3}) == "the cafe");
    CHECK(tokenizer->encode_with_specials("[MASK]") == Tokens{4});
  }
  CHECK(plain->encode(text) == json->encode(text));
  // No truncation to three tokens and no padding to eight, which the file asks for.
  CHECK(json->encode("the") == Tokens{8});
  CHECK(json->encode("the the the the").size() == 4);
}

TEST_CASE("a vocabulary may end its lines as Windows does") {
  const TemporaryFolder folder;
  std::string windows;
  for (const std::string& token : bert_tokens) windows += token + "\r\n";
  folder.file("vocab.txt", windows);
  CHECK(open_tokenizer(folder.path())->encode("the") == Tokens{8});
}

TEST_CASE("tokenizer_config.json has the rules of vocab.txt") {
  const TemporaryFolder folder;
  folder.file("vocab.txt", lines(bert_tokens));
  folder.file("tokenizer_config.json",
              R"({"do_lower_case": false, "tokenize_chinese_chars": false, "strip_accents": true,
                  "tokenizer_class": "BertTokenizerFast", "model_max_length": 512,
                  "added_tokens_decoder": {"26": {"content": "<new>", "special": true},
                                           "4": {"content": "[MASK]", "special": true}}})");
  const auto tokenizer = open_tokenizer(folder.path());
  const auto& rules = dynamic_cast<const WordPiece&>(*tokenizer).rules().text;
  CHECK_FALSE(rules.lowercase);
  CHECK_FALSE(rules.handle_chinese_chars);
  CHECK(rules.strip_accents == true);
  CHECK(tokenizer->size() == 27);
  CHECK(tokenizer->encode_with_specials("<new>") == Tokens{26});
  CHECK(tokenizer->encode("The") == Tokens{1});
}

TEST_CASE("vocab.json with merges.txt and tokenizer.json give the same ByteBpe") {
  const TemporaryFolder folder;
  write_gpt2(folder);
  const auto plain = open_tokenizer(folder.path());
  const auto json = open_json(bpe_json());
  Record pairs = bpe_json();
  pairs["model"]["type"] = "BPE";
  for (Record& merge : pairs["model"]["merges"]) {
    const auto words = merge.get<std::string>();
    const std::size_t space = words.find(' ');
    merge = {words.substr(0, space), words.substr(space + 1)};
  }
  const auto newer = open_json(pairs);
  const auto end = std::int32_t(plain->size() - 1);
  for (const auto* tokenizer : {plain.get(), json.get(), newer.get()}) {
    CHECK(tokenizer->kind_name() == "ByteBpe");
    CHECK(tokenizer->encode(text) == plain->encode(text));
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(tokenizer->special_ids().end == end);
    CHECK(tokenizer->special_ids().begin == end);
    CHECK_FALSE(tokenizer->special_ids().unk.has_value());
    CHECK(tokenizer->framed({8}) == Tokens{8});
    CHECK(tokenizer->encode_with_specials("<|endoftext|>") == Tokens{end});
  }
}

TEST_CASE("RoBERTa frames its texts, and its mask takes the space before it") {
  const TemporaryFolder folder;
  auto tokens = bpe_tokens();
  tokens.insert(tokens.begin(), {"<s>", "<pad>", "</s>", "<unk>"});
  tokens.push_back("<mask>");
  folder.file("vocab.json", ids_of(tokens).dump());
  folder.file("merges.txt", lines(bpe_merges));
  folder.file("tokenizer_config.json",
              R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true,
                  "mask_token": {"content": "<mask>"}, "bos_token": "<s>", "pad_token": null})");
  const auto tokenizer = open_tokenizer(folder.path());
  const auto mask = std::int32_t(tokens.size() - 1);
  CHECK(tokenizer->framed({9}) == Tokens{0, 9, 2});
  CHECK(tokenizer->special_ids().mask == mask);
  CHECK(tokenizer->special_ids().pad == 1);
  CHECK(tokenizer->special_ids().unk == 3);
  CHECK(tokenizer->token(tokenizer->encode("the").front()) == "\u0120the");
  CHECK(tokenizer->encode_with_specials(" <mask>") == Tokens{mask});
}

TEST_CASE("a frame may be written in four ways") {
  Record file = bert_json();
  for (const Record& processor : std::vector<Record>{
           {{"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}},
           {{"type", "RobertaProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}},
           {{"type", "Sequence"},
            {"processors", {{{"type", "ByteLevel"}}, bert_json()["post_processor"]}}}}) {
    file["post_processor"] = processor;
    CHECK(open_json(file)->framed({8}) == Tokens{2, 8, 3});
  }
  file["post_processor"] = nullptr;
  CHECK(open_json(file)->framed({8}) == Tokens{8});
}

TEST_CASE("added tokens that are not special are always found") {
  Record file = bpe_json();
  const int id = int(bpe_tokens().size());
  file["added_tokens"].push_back(added_token("<tool>", id, false));
  file["added_tokens"][1]["normalized"] = true;  // without a normalizer that is the same
  const auto tokenizer = open_json(file);
  CHECK(tokenizer->size() == id + 1);
  CHECK(tokenizer->encode("<tool>") == Tokens{id});
  CHECK(tokenizer->decode(Tokens{id}) == "<tool>");
}

TEST_CASE("special_tokens_map.json gives roles, after tokenizer_config.json") {
  const TemporaryFolder folder;
  write_json(folder, bpe_json());
  folder.file("special_tokens_map.json", R"({"pad_token": "a", "eos_token": "b"})");
  folder.file("tokenizer_config.json", R"({"eos_token": {"content": "c"}})");
  const auto tokenizer = open_tokenizer(folder.path());
  CHECK(tokenizer->special_ids().pad == 'a');
  CHECK(tokenizer->special_ids().end == 'c');
}
