// Files of tokenizers that are broken or hostile, and those that headroom does not compute: each is
// refused with one line that names the file and the place.
#include <functional>

#include "headroom/base/error.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "support/catch.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

std::string refusal(const TemporaryFolder& folder) {
  try {
    open_tokenizer(folder.path());
  } catch (const FileError& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.starts_with(folder.path().string()));
    return message.substr(std::min(folder.path().string().size() + 1, message.size()));
  }
  return "accepted";
}

std::string refusal_of_files(const std::vector<std::pair<std::string, std::string>>& files) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : files) folder.file(name, content);
  return refusal(folder);
}

std::string refusal_of_json(const Record& file) {
  return refusal_of_files({{"tokenizer.json", file.dump()}});
}

struct Fault {
  std::string pointer;  // of the member that is replaced
  Record value;
  std::string message;
};

void check_faults(const Record& sound, const std::vector<Fault>& faults) {
  REQUIRE(refusal_of_json(sound) == "accepted");
  for (const Fault& fault : faults) {
    Record file = sound;
    file[Record::json_pointer(fault.pointer)] = fault.value;
    INFO(fault.pointer << " = " << fault.value.dump());
    CHECK(refusal_of_json(file) == fault.message);
  }
}

}  // namespace

TEST_CASE("a folder without a tokenizer, and files that are no JSON, are refused") {
  const TemporaryFolder empty;
  CHECK_THROWS_WITH(open_tokenizer(empty.path()),
                    Contains(": no tokenizer: it has no tokenizer.json, vocab.txt, vocab.json"));
  CHECK_THAT(refusal_of_files({{"tokenizer.json", "{"}}), Contains("malformed JSON"));
  CHECK_THAT(refusal_of_files({{"tokenizer.json", "{\"a\": \"\xFF\"}"}}), Contains("UTF-8"));
  CHECK(refusal_of_files({{"tokenizer.json", "[]"}}) ==
        "tokenizer.json: must be an object, not []");
  CHECK(refusal_of_files({{"tokenizer.json", "{\"a\": 1, \"a\": 2}"}}) ==
        "tokenizer.json: JSON key \"a\" occurs twice");
}

TEST_CASE("broken files of WordPiece are refused") {
  const std::string model = "tokenizer.json/model";
  check_faults(
      bert_json(),
      {{"/model/vocab/the", 9, model + "/vocab: tokens \"cafe\" and \"the\" have the same id, 9"},
       {"/model/vocab/the", 26,
        model + "/vocab: token \"the\" has id 26, but the ids of 26 tokens are 0 to 25"},
       {"/model/vocab/the", -1,
        model + "/vocab: token \"the\" has id -1, but the ids of 26 tokens are 0 to 25"},
       {"/model/vocab/the", 8.0, model + "/vocab/the: must be an integer, not 8.0"},
       {"/model/vocab/the", 1e300, model + "/vocab/the: must be an integer, not 1e+300"},
       {"/model/vocab/the", std::uint64_t(-1),
        model + "/vocab/the: must be an integer, not 18446744073709551615"},
       {"/model/vocab/", 26, model + "/vocab: token 26 is empty"},
       {"/model/vocab", 3, model + "/vocab: must be an object, not 3"},
       {"/model/unk_token", "<unk>",
        "tokenizer.json/model/unk_token: the token \"<unk>\" is not in "
        "the vocabulary"},
       {"/model/unk_token", nullptr, model + "/unk_token: a text is missing"},
       {"/model/max_input_chars_per_word", "x",
        model + "/max_input_chars_per_word: must be an integer, not \"x\""},
       {"/added_tokens/0/id", 7,
        "tokenizer.json/model/vocab: the added token \"[PAD]\" has id 7, "
        "but 0 in the vocabulary"},
       {"/added_tokens/0/content", "<x>",
        "tokenizer.json/model/vocab: tokens \"[PAD]\" and \"<x>\" "
        "have the same id, 0"},
       {"/added_tokens/1", bert_json()["added_tokens"][0],
        "tokenizer.json: added tokens: \"[PAD]\" occurs twice"},
       {"/added_tokens/0/content", "", "tokenizer.json/added_tokens/0: an added token is empty"},
       {"/added_tokens/0/id", 5e6,
        "tokenizer.json/added_tokens/0/id: must be an integer, not "
        "5000000.0"},
       {"/added_tokens/0/id", 5'000'000,
        "tokenizer.json/added_tokens/0: the id 5000000 is impossible"},
       {"/post_processor/special_tokens/[CLS]/ids",
        {99},
        "tokenizer.json/post_processor/special_tokens/[CLS]: token \"[CLS]\" has not the id 99 in "
        "the vocabulary"},
       {"/post_processor/special_tokens/[CLS]/ids", Record::array(),
        "tokenizer.json/post_processor/special_tokens/[CLS]: must have a token for each id"},
       {"/post_processor/single", Record::array(),
        "tokenizer.json/post_processor/single: the template has no text A"},
       {"/decoder/prefix", "@@",
        "tokenizer.json/decoder/prefix: must be \"continuing_subword_prefix\" of the model"}});
  Record hole = bert_json();
  hole["model"]["vocab"].erase("the");
  CHECK(refusal_of_json(hole) ==
        "tokenizer.json/model/vocab: token \"\u00e9\" has id 25, but the "
        "ids of 25 tokens are 0 to 24");
  hole["model"]["vocab"] = Record::object();
  hole["added_tokens"] = Record::array();
  CHECK(refusal_of_json(hole) == "tokenizer.json/model/vocab: the vocabulary is empty");
}

TEST_CASE("WordPiece that headroom does not compute is refused by name") {
  check_faults(
      bert_json(),
      {{"/model/type", "Unigram",
        "tokenizer.json/model: headroom does not compute the model "
        "Unigram; it can be WordPiece or BPE"},
       {"/normalizer/type", "NFKC",
        "tokenizer.json/normalizer: headroom does not compute the "
        "normalizer NFKC; here it can be BertNormalizer"},
       {"/pre_tokenizer/type", "Whitespace",
        "tokenizer.json/pre_tokenizer: headroom does not compute the pre-tokenizer Whitespace; "
        "here "
        "it can be BertPreTokenizer"},
       {"/pre_tokenizer", nullptr,
        "tokenizer.json/pre_tokenizer: headroom does not compute the pre-tokenizer none; here it "
        "can be BertPreTokenizer"},
       {"/decoder/type", "a\nb",
        "tokenizer.json/decoder: headroom does not compute the decoder "
        "a\\x0Ab; here it can be WordPiece"},
       {"/post_processor/type", "X",
        "tokenizer.json/post_processor: headroom does not compute the post-processor X"},
       {"/added_tokens/4/normalized", true,
        "tokenizer.json/added_tokens/4: headroom does not compute added tokens that are "
        "\"normalized\""},
       {"/added_tokens/4/single_word", true,
        "tokenizer.json/added_tokens/4: headroom does not compute added tokens with "
        "\"single_word\""}});
}

TEST_CASE("broken files of ByteBpe are refused") {
  const std::string model = "tokenizer.json/model";
  Record lacks = bpe_json();
  lacks["model"]["vocab"].erase("A");
  lacks["model"]["vocab"]["AA"] = 'A';
  CHECK(refusal_of_json(lacks) == model + ": the vocabulary lacks \"A\", which is byte 65");
  check_faults(
      bpe_json(),
      {{"/model/merges/1", "b x", model + ": merge 2, \"b x\": the vocabulary has no \"bx\""},
       {"/model/merges/1", "xx c", model + ": merge 2, \"xx c\": the vocabulary has no \"xxc\""},
       {"/model/merges/1", "a b", model + ": merge 2, \"a b\", occurs twice"},
       {"/model/merges/1", "ab",
        model + "/merges/1: a merge must be two tokens, \"a b\" or [\"a\", \"b\"]"},
       {"/model/merges/1",
        {"a", "b", "c"},
        model + "/merges/1: a merge must be two tokens, \"a b\" or [\"a\", \"b\"]"},
       {"/model/merges/1", 3, model + "/merges/1: must be a text, not 3"},
       {"/model/dropout", 0.1, model + "/dropout: headroom does not compute this option of BPE"},
       {"/model/byte_fallback", true,
        model + "/byte_fallback: headroom does not compute this option of BPE"},
       {"/model/end_of_word_suffix", "</w>",
        model + "/end_of_word_suffix: headroom does not compute this option of BPE"},
       {"/model/unk_token", "<unk>",
        model + "/unk_token: the token \"<unk>\" is not in the vocabulary"},
       {"/normalizer",
        {{"type", "NFC"}},
        "tokenizer.json/normalizer: headroom does not compute the normalizer NFC; here it can be "
        "null"},
       {"/pre_tokenizer",
        {{"type", "Split"}, {"pattern", {{"Regex", "x"}}}},
        "tokenizer.json/pre_tokenizer: headroom does not compute the pre-tokenizer Split; here it "
        "can be ByteLevel"},
       {"/pre_tokenizer/use_regex", false,
        "tokenizer.json/pre_tokenizer/use_regex: headroom does not compute ByteLevel without its "
        "own words"}});
}

TEST_CASE("broken plain files are refused with their line") {
  const std::string vocabulary = lines(bert_tokens);
  const auto wordpiece = [](const std::string& text, const std::string& config = "{}") {
    return refusal_of_files({{"vocab.txt", text}, {"tokenizer_config.json", config}});
  };
  CHECK(wordpiece(vocabulary) == "accepted");
  CHECK(wordpiece(vocabulary + "the\n") ==
        "vocab.txt: token \"the\" occurs twice, with ids 8 and 26");
  CHECK(wordpiece(vocabulary + "\nx\n") == "vocab.txt: token 26 is empty");
  CHECK(wordpiece(vocabulary + "\xC3\n") == "vocab.txt:27: the line is not UTF-8");
  CHECK(wordpiece(vocabulary + "a\rb\n") == "vocab.txt:27: a line has a carriage return");
  CHECK(wordpiece("") == "vocab.txt: the vocabulary is empty");
  CHECK(wordpiece("a\nb\n") == "vocab.txt: the vocabulary has no token [UNK]");
  CHECK(wordpiece("[UNK]\nb\n") == "vocab.txt: the vocabulary lacks the tokens around a text");
  CHECK(wordpiece(vocabulary, R"({"unk_token": "<unk>"})") ==
        "tokenizer_config.json/unk_token: the token \"<unk>\" is not in the vocabulary");
  CHECK(wordpiece(vocabulary, R"({"tokenizer_class": "BertJapaneseTokenizer"})") ==
        "tokenizer_config.json/tokenizer_class: headroom does not compute BertJapaneseTokenizer "
        "without tokenizer.json");
  CHECK(wordpiece(vocabulary, R"({"added_tokens_decoder": {"x": {"content": "y"}}})") ==
        "tokenizer_config.json/added_tokens_decoder/x: the key must be an id");
  CHECK(wordpiece(vocabulary, R"({"added_tokens_decoder": {"3": {"content": "y"}}})") ==
        "tokenizer_config.json/added_tokens_decoder/3: headroom does not compute added tokens that "
        "are \"normalized\"");
  CHECK(refusal_of_files({{"vocab.txt", vocabulary}, {"added_tokens.json", R"({"x": 26})"}}) ==
        "added_tokens.json: headroom reads added tokens from tokenizer.json only");

  const auto bpe = [](const std::string& merges) {
    return refusal_of_files({{"vocab.json", ids_of(bpe_tokens()).dump()}, {"merges.txt", merges}});
  };
  CHECK(bpe("#version: 0.2\na b\n") == "accepted");
  CHECK(bpe("a b\nb c d\n") ==
        "merges.txt:2: a merge must be two tokens with a space between them");
  CHECK(bpe("a b\n\xFF c\n") == "merges.txt:2: the line is not UTF-8");
  CHECK(refusal_of_files({{"vocab.json", ids_of(byte_tokens()).dump()}, {"merges.txt", ""}}) ==
        "vocab.json: the vocabulary has no <|endoftext|>, and no \"tokenizer_class\" says why");
  CHECK(bpe("a b\nb x\n") == "merges.txt: merge 2, \"b x\": the vocabulary has no \"bx\"");
}

TEST_CASE("files that contradict each other are refused") {
  CHECK(refusal_of_files({{"tokenizer.json", bert_json().dump()},
                          {"tokenizer_config.json", R"({"do_lower_case": false})"}}) ==
        "tokenizer_config.json/do_lower_case: is false, but true in tokenizer.json");
  CHECK(refusal_of_files({{"tokenizer.json", bpe_json().dump()},
                          {"tokenizer_config.json", R"({"add_prefix_space": true})"}}) ==
        "tokenizer_config.json/add_prefix_space: is true, but false in tokenizer.json");
}

TEST_CASE("a vocabulary of a million tokens is read, one of more is refused") {
  std::string text = "{";
  for (int id = 0; id <= 1'000'000; ++id) {
    text += (id > 0 ? ",\"" : "\"") + std::to_string(id) + "\":" + std::to_string(id);
  }
  const std::string more = text + "}";
  CHECK(refusal_of_files({{"vocab.json", more}, {"merges.txt", "a b"}}) ==
        "vocab.json: JSON object with more than 1000000 keys");
  const std::string most = text.substr(0, text.rfind(',')) + "}";
  CHECK(refusal_of_files({{"vocab.json", most}, {"merges.txt", "a b"}}) ==
        "vocab.json: the vocabulary has no <|endoftext|>, and no \"tokenizer_class\" says why");
}
