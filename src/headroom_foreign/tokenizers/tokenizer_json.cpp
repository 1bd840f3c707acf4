// tokenizer.json, the file of the library tokenizers: it names a normalizer, a pre-tokenizer, a
// model, a post-processor and a decoder. headroom computes the two combinations that BERT and GPT-2
// have, and refuses all others by name.
#include <fmt/format.h>

#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_foreign/tokenizers/byte_bpe.hpp"
#include "headroom_foreign/tokenizers/word_piece.hpp"
#include "tokenizers/tokenizer_files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Refuses a part of the file unless it has this type.
void expect_type(const JsonPart& part, const char* what, const char* type) {
  const std::string found = part["type"].text_or("none");
  if (found == type) return;
  part.refuse(fmt::format("headroom does not compute the {} {}; here it can be {}", what,
                          printable(found), type));
}

// Early files do not say the type of the model.
std::string model_type(const JsonPart& model) {
  if (!model["type"].is_null()) return model["type"].text();
  if (!model["merges"].is_null()) return "BPE";
  return model["max_input_chars_per_word"].is_null() ? "none" : "WordPiece";
}

std::vector<AddedToken> added_tokens(const JsonPart& file, bool rewrites) {
  std::vector<AddedToken> added;
  for (const JsonPart& token : file["added_tokens"].elements()) {
    added.push_back(added_token_of_json(token, token["id"].integer(), rewrites));
  }
  return added;
}

TokenizerParts parts_of(const JsonPart& file, const TokenizerConfig& config, bool rewrites) {
  const JsonPart vocabulary = file["model"]["vocab"];
  const std::vector<AddedToken> added = added_tokens(file, rewrites);
  TokenizerParts parts{table_with_added(tokens_of_json(vocabulary), added, vocabulary.place())};
  parts.added = AddedTokens(added);
  parts.frame = frame_of_json(file["post_processor"], parts.table);
  parts.specials = special_ids_of(config, parts.table, added);
  const JsonPart unknown = file["model"]["unk_token"];
  if (!unknown.is_null() && !parts.table.find(unknown.text())) {
    unknown.refuse(
        fmt::format("the token \"{}\" is not in the vocabulary", printable(unknown.text())));
  }
  return parts;
}

BertRules bert_rules(const JsonPart& normalizer, const TokenizerConfig& config) {
  BertRules rules{false, false, false, false};
  if (normalizer.is_null()) return rules;
  expect_type(normalizer, "normalizer", "BertNormalizer");
  rules.clean_text = normalizer["clean_text"].flag();
  rules.handle_chinese_chars = normalizer["handle_chinese_chars"].flag();
  rules.lowercase = normalizer["lowercase"].flag();
  rules.strip_accents = normalizer["strip_accents"].flag_or(rules.lowercase);
  check_agreement(config.config["do_lower_case"], rules.lowercase);
  check_agreement(config.config["tokenize_chinese_chars"], rules.handle_chinese_chars);
  check_agreement(config.config["strip_accents"], *rules.strip_accents);
  return rules;
}

std::unique_ptr<ForeignTokenizer> word_piece(const JsonPart& file, const TokenizerConfig& config) {
  const JsonPart model = file["model"], decoder = file["decoder"];
  WordPieceRules rules;
  rules.text = bert_rules(file["normalizer"], config);
  expect_type(file["pre_tokenizer"], "pre-tokenizer", "BertPreTokenizer");
  expect_type(decoder, "decoder", "WordPiece");
  rules.unknown = model["unk_token"].text();
  rules.inside = model["continuing_subword_prefix"].text();
  rules.longest_word = model["max_input_chars_per_word"].integer();
  rules.tidy = decoder["cleanup"].flag();
  if (decoder["prefix"].text() != rules.inside) {
    decoder["prefix"].refuse("must be \"continuing_subword_prefix\" of the model");
  }
  TokenizerParts parts = parts_of(file, config, !file["normalizer"].is_null());
  return std::make_unique<WordPiece>(std::move(parts), rules);
}

// Refuses options of a model BPE that change what it computes.
void refuse_bpe_options(const JsonPart& model) {
  const auto refuse = [](const JsonPart& option) {
    option.refuse("headroom does not compute this option of BPE");
  };
  if (!model["dropout"].is_null()) refuse(model["dropout"]);
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[affix].text_or("").empty()) refuse(model[affix]);
  }
  for (const char* flag : {"byte_fallback", "ignore_merges"}) {
    if (model[flag].flag_or(false)) refuse(model[flag]);
  }
}

std::unique_ptr<ForeignTokenizer> byte_bpe(const JsonPart& file, const TokenizerConfig& config) {
  const JsonPart model = file["model"], pre_tokenizer = file["pre_tokenizer"];
  if (!file["normalizer"].is_null()) expect_type(file["normalizer"], "normalizer", "null");
  expect_type(pre_tokenizer, "pre-tokenizer", "ByteLevel");
  expect_type(file["decoder"], "decoder", "ByteLevel");
  if (!pre_tokenizer["use_regex"].flag_or(true)) {
    pre_tokenizer["use_regex"].refuse("headroom does not compute ByteLevel without its own words");
  }
  refuse_bpe_options(model);
  const bool space_before = pre_tokenizer["add_prefix_space"].flag();
  check_agreement(config.config["add_prefix_space"], space_before);
  std::vector<ByteBpe::MergedPair> merges;
  for (const JsonPart& merge : model["merges"].elements()) merges.push_back(merge_of_json(merge));
  return std::make_unique<ByteBpe>(parts_of(file, config, false), merges, space_before,
                                   model.place());
}

}  // namespace

void check_agreement(const JsonPart& setting, bool value) {
  if (setting.flag_or(value) != value) {
    setting.refuse(fmt::format("is {}, but {} in tokenizer.json", !value, value));
  }
}

std::pair<std::string, std::string> merge_of_json(const JsonPart& merge) {
  if (merge.is_list()) {
    const auto tokens = merge.elements();
    if (tokens.size() == 2) return {tokens[0].text(), tokens[1].text()};
  } else {
    const std::string text = merge.text();
    const std::size_t space = text.find(' ');
    if (space != text.npos && text.find(' ', space + 1) == text.npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  }
  merge.refuse("a merge must be two tokens, \"a b\" or [\"a\", \"b\"]");
}

std::unique_ptr<ForeignTokenizer> read_tokenizer_json(const std::filesystem::path& path,
                                                      const TokenizerConfig& config) {
  const JsonPart file = JsonPart::of_file(path);
  const std::string type = model_type(file["model"]);
  try {
    if (type == "WordPiece") return word_piece(file, config);
    if (type == "BPE") return byte_bpe(file, config);
  } catch (const UsageError& error) {
    file.refuse(error.what());
  }
  file["model"].refuse(fmt::format(
      "headroom does not compute the model {}; it can be WordPiece or BPE", printable(type)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
