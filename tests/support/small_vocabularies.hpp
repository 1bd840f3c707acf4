// Small vocabularies, as the files of other programs write them.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "support/temporary_folder.hpp"

/// The tokens of a small vocabulary of BERT, one a line.
inline const std::vector<std::string> bert_tokens = {
    "[PAD]", "[UNK]", "[CLS]",  "[SEP]", "[MASK]", "un", "##aff", "##able", "the",
    "cafe",  "a",     "##b",    ",",     ".",      "!",  "'",     "##s",    "s",
    "i",     "##a",   "\u4e2d", "ab",    "[",      "]",  "mask",  "\u00e9"};

inline std::string lines(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token + '\n';
  return text;
}

/// {"token": id} with the ids in order.
inline headroom::Record ids_of(const std::vector<std::string>& tokens) {
  headroom::Record ids = headroom::Record::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) ids[tokens[id]] = id;
  return ids;
}

/// An added token as tokenizer.json writes it.
inline headroom::Record added_token(const std::string& text, int id, bool special = true) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

/// tokenizer.json with the tokens of BERT above.
inline headroom::Record bert_json() {
  headroom::Record file;
  file["truncation"] = {{"max_length", 3}};
  file["padding"] = {{"length", 8}};
  file["added_tokens"] = headroom::Record::array();
  for (int id = 0; id < 5; ++id)
    file["added_tokens"].push_back(added_token(bert_tokens[std::size_t(id)], id));
  file["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", true},
                        {"strip_accents", nullptr},
                        {"lowercase", true}};
  file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single",
                             {{{"SpecialToken", {{"id", "[CLS]"}, {"type_id", 0}}}},
                              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                              {{"SpecialToken", {{"id", "[SEP]"}, {"type_id", 0}}}}}},
                            {"special_tokens",
                             {{"[CLS]", {{"id", "[CLS]"}, {"ids", {2}}, {"tokens", {"[CLS]"}}}},
                              {"[SEP]", {{"id", "[SEP]"}, {"ids", {3}}, {"tokens", {"[SEP]"}}}}}}};
  file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  file["model"] = {{"type", "WordPiece"},
                   {"unk_token", "[UNK]"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100},
                   {"vocab", ids_of(bert_tokens)}};
  return file;
}

/// The 256 characters that GPT-2 writes for bytes, by its own description: printable characters of
/// Latin-1 for themselves, the others from U+0100.
inline std::vector<std::string> byte_tokens() {
  const auto utf8 = [](int c) {
    if (c < 0x80) return std::string{char(c)};
    return std::string{char(0xC0 | c >> 6), char(0x80 | (c & 0x3F))};
  };
  std::vector<std::string> tokens;
  for (int byte = 0, next = 256; byte < 256; ++byte) {
    const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    tokens.push_back(utf8(itself ? byte : next++));
  }
  return tokens;
}

/// The merges of a small vocabulary of GPT-2: the first comes first. "\u0120" is a space.
inline const std::vector<std::string> bpe_merges = {"a b", "b c",        "ab c", "\u0120 t",
                                                    "h e", "\u0120t he", "a a",  "aa a"};

inline std::vector<std::string> bpe_tokens() {
  std::vector<std::string> tokens = byte_tokens();
  for (std::string merge : bpe_merges) tokens.push_back(merge.erase(merge.find(' '), 1));
  tokens.push_back("<|endoftext|>");
  return tokens;
}

/// tokenizer.json with them.
inline headroom::Record bpe_json() {
  headroom::Record file;
  const headroom::Record end = added_token("<|endoftext|>", int(bpe_tokens().size()) - 1);
  file["added_tokens"] = headroom::Record::array({end});  // clang takes {end} for a copy of it
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  file["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
  file["decoder"] = {{"type", "ByteLevel"}};
  file["model"] = {{"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", ""},
                   {"vocab", ids_of(bpe_tokens())},
                   {"merges", bpe_merges}};
  return file;
}

/// The folders in which these files are alone.
inline void write_json(const TemporaryFolder& folder, const headroom::Record& file) {
  folder.file("tokenizer.json", file.dump());
}
inline void write_gpt2(const TemporaryFolder& folder) {
  folder.file("vocab.json", ids_of(bpe_tokens()).dump());
  folder.file("merges.txt", "#version: 0.2\n" + lines(bpe_merges));
}
