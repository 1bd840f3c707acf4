// The tokenizer in a folder: which files there are decides which one it is.
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/text_lines.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_foreign/tokenizers/byte_bpe.hpp"
#include "headroom_foreign/tokenizers/sentence_piece.hpp"
#include "headroom_foreign/tokenizers/word_piece.hpp"
#include "tokenizers/tokenizer_files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

constexpr Index largest_text = 100'000'000;  // bytes

// The lines of a file, which must be UTF-8.
std::vector<std::string> lines_of_file(const fs::path& path) {
  const std::string text = read_file(path, largest_text);
  std::vector<std::string> lines;
  for (std::string_view line : lines_of(text)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string place = fmt::format("{}:{}", path.string(), lines.size() + 1);
    if (find_malformed_utf8(line)) throw FileError(place + ": the line is not UTF-8");
    if (line.find('\r') != line.npos) throw FileError(place + ": a line has a carriage return");
    lines.emplace_back(line);
  }
  return lines;
}

// A class of Transformers that tokenizes as headroom does; files without a class have the first.
std::string tokenizer_class(const JsonPart& config, const std::vector<std::string>& known) {
  const JsonPart setting = config["tokenizer_class"];
  std::string name = setting.text_or(known.front());
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  if (std::ranges::find(known, name) == known.end()) {
    setting.refuse(
        fmt::format("headroom does not compute {} without tokenizer.json", printable(name)));
  }
  return name;
}

// The special tokens of a folder without tokenizer.json: those that the configuration lists, those
// with a role there, and the usual ones of the class. Refuses a file of other added tokens.
std::vector<AddedToken> special_tokens(const fs::path& folder, const TokenizerConfig& config,
                                       const std::vector<TokenWithId>& tokens,
                                       const std::vector<std::string>& usual, bool rewrites) {
  const JsonPart more = JsonPart::of_file_if_any(folder / "added_tokens.json");
  if (!more.members().empty()) {
    more.refuse("headroom reads added tokens from tokenizer.json only");
  }
  std::vector<AddedToken> added;
  for (const auto& [id, token] : config.config["added_tokens_decoder"].members()) {
    const bool is_number = !id.empty() && id.size() < 8 &&
                           std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number) token.refuse("the key must be an id");
    added.push_back(added_token_of_json(token, std::stol(id), rewrites));
  }
  std::vector<std::string> names = tokens_with_roles(config);
  names.insert(names.end(), usual.begin(), usual.end());
  for (const std::string& name : names) {
    const auto is_name = [&](const auto& known) { return known == name; };
    if (std::ranges::any_of(added, is_name, &AddedToken::text)) continue;
    const auto found = std::ranges::find(tokens, name, &TokenWithId::token);
    if (found == tokens.end() || found->id < 0 || found->id >= std::ssize(tokens)) continue;
    AddedToken token;
    token.text = name;
    token.id = static_cast<std::int32_t>(found->id);
    token.takes_spaces_before = name == "<mask>";
    added.push_back(token);
  }
  return added;
}

TokenizerParts parts_with(const std::vector<TokenWithId>& tokens,
                          const std::vector<AddedToken>& added, const TokenizerConfig& config,
                          const std::string& origin) {
  TokenizerParts parts{table_with_added(tokens, added, origin)};
  try {
    parts.added = AddedTokens(added);
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", origin, error.what()));
  }
  parts.specials = special_ids_of(config, parts.table, added);
  return parts;
}

// [begin] text [end]
Frame frame_of_roles(const TokenizerParts& parts, const std::string& origin) {
  const auto& [pad, unk, begin, end, mask] = parts.specials;
  if (!begin || !end) {
    throw FileError(fmt::format("{}: the vocabulary lacks the tokens around a text", origin));
  }
  return {{*begin}, {*end}};
}

std::unique_ptr<ForeignTokenizer> read_word_piece(const fs::path& folder,
                                                  const TokenizerConfig& config) {
  const fs::path path = folder / "vocab.txt";
  tokenizer_class(config.config, {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"});
  WordPieceRules rules;
  rules.text.lowercase = config.config["do_lower_case"].flag_or(true);
  rules.text.handle_chinese_chars = config.config["tokenize_chinese_chars"].flag_or(true);
  const JsonPart strip = config.config["strip_accents"];
  if (!strip.is_null()) rules.text.strip_accents = strip.flag();
  std::vector<TokenWithId> tokens;
  for (std::string& line : lines_of_file(path)) {
    tokens.push_back({std::move(line), std::ssize(tokens)});
  }
  const auto added =
      special_tokens(folder, config, tokens, {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, true);
  TokenizerParts parts = parts_with(tokens, added, config, path.string());
  if (!parts.specials.unk) {
    throw FileError(fmt::format("{}: the vocabulary has no token [UNK]", path.string()));
  }
  rules.unknown = parts.table.token(*parts.specials.unk);
  parts.frame = frame_of_roles(parts, path.string());
  return std::make_unique<WordPiece>(std::move(parts), rules);
}

std::vector<ByteBpe::MergedPair> read_merges(const fs::path& path) {
  std::vector<ByteBpe::MergedPair> merges;
  Index number = 0;
  for (const std::string& line : lines_of_file(path)) {
    ++number;
    if (number == 1 && line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) {
      throw FileError(fmt::format("{}:{}: a merge must be two tokens with a space between them",
                                  path.string(), number));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

std::unique_ptr<ForeignTokenizer> read_byte_bpe(const fs::path& folder,
                                                const TokenizerConfig& config) {
  const fs::path path = folder / "vocab.json";
  const std::string name =
      tokenizer_class(config.config, {"GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer"});
  const bool gpt2 = name == "GPT2Tokenizer";
  const auto tokens = tokens_of_json(JsonPart::of_file(path));
  const std::vector<std::string> gpt2_tokens = {"<|endoftext|>"};
  const std::vector<std::string> other_tokens = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  const auto added =
      special_tokens(folder, config, tokens, gpt2 ? gpt2_tokens : other_tokens, false);
  TokenizerParts parts = parts_with(tokens, added, config, path.string());
  if (gpt2 && !parts.table.find("<|endoftext|>")) {
    throw FileError(
        fmt::format("{}: the vocabulary has no <|endoftext|>, and no \"tokenizer_class\" says why",
                    path.string()));
  }
  if (!gpt2) parts.frame = frame_of_roles(parts, path.string());
  return std::make_unique<ByteBpe>(std::move(parts), read_merges(folder / "merges.txt"),
                                   config.config["add_prefix_space"].flag_or(false),
                                   (folder / "merges.txt").string());
}

std::unique_ptr<ForeignTokenizer> read_marian(const fs::path& folder,
                                              const TokenizerConfig& config) {
  const fs::path path = folder / "vocab.json";
  tokenizer_class(config.config, {"MarianTokenizer"});
  const JsonPart separate = config.config["separate_vocabs"];
  if (separate.flag_or(false)) {
    separate.refuse("headroom does not compute two vocabularies in one tokenizer");
  }
  const auto tokens = tokens_of_json(JsonPart::of_file(path));
  const auto added = special_tokens(folder, config, tokens, {"<unk>", "</s>", "<pad>"}, false);
  if (const auto plain = std::ranges::find(added, false, &AddedToken::special);
      plain != added.end()) {
    config.config.refuse(
        fmt::format("headroom does not compute \"{}\", an added token of Marian "
                    "that is not special",
                    printable(plain->text)));
  }
  TokenizerParts parts = parts_with(tokens, added, config, path.string());
  if (!parts.specials.unk || !parts.specials.end) {
    throw FileError(fmt::format("{}: the vocabulary lacks <unk> or </s>", path.string()));
  }
  parts.frame.after = {*parts.specials.end};
  return std::make_unique<SentencePieceTokenizer>(std::move(parts), folder / "source.spm",
                                                  folder / "target.spm");
}

}  // namespace

std::unique_ptr<ForeignTokenizer> open_tokenizer(const fs::path& folder) {
  const TokenizerConfig config{JsonPart::of_file_if_any(folder / "tokenizer_config.json"),
                               JsonPart::of_file_if_any(folder / "special_tokens_map.json")};
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("source.spm")) return read_marian(folder, config);
  if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json", config);
  if (has("vocab.txt")) return read_word_piece(folder, config);
  if (has("vocab.json") && has("merges.txt")) return read_byte_bpe(folder, config);
  throw FileError(
      fmt::format("{}: no tokenizer: it has no tokenizer.json, vocab.txt, vocab.json "
                  "with merges.txt, or source.spm",
                  folder.string()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
