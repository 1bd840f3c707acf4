// The files of a tokenizer, part by part. All functions throw FileError for what is broken or not
// computed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"
#include "tokenizers/json_part.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The settings of a tokenizer beside its vocabulary, in tokenizer_config.json and in
/// special_tokens_map.json. Both may be empty.
struct TokenizerConfig {
  JsonPart config, special_tokens;
};

/// The tokens of a JSON object {token: id}.
std::vector<TokenWithId> tokens_of_json(const JsonPart& vocabulary);

/// An added token; `id` is what the file gives it. With `rewrites`, the tokenizer rewrites texts,
/// and added tokens to be found in the rewritten text are refused.
AddedToken added_token_of_json(const JsonPart& token, Index id, bool rewrites);

/// The table of the tokens and of those added tokens that are not among them.
TokenTable table_with_added(std::vector<TokenWithId> tokens, const std::vector<AddedToken>& added,
                            const std::string& origin);

/// The ids of the tokens that have a role in the configuration, or else the special ones among
/// `added` that usually have one, such as [PAD].
SpecialIds special_ids_of(const TokenizerConfig& config, const TokenTable& table,
                          const std::vector<AddedToken>& added);

/// The texts of the tokens that have a role in the configuration.
std::vector<std::string> tokens_with_roles(const TokenizerConfig& config);

/// The special tokens that a post-processor of tokenizer.json adds around a single text.
Frame frame_of_json(const JsonPart& post_processor, const TokenTable& table);

/// Refuses a setting of the configuration that contradicts what another file says.
void check_agreement(const JsonPart& setting, bool value);

/// "a b", or ["a", "b"]: two tokens to be merged.
std::pair<std::string, std::string> merge_of_json(const JsonPart& merge);

/// The tokenizer of a file tokenizer.json.
std::unique_ptr<ForeignTokenizer> read_tokenizer_json(const std::filesystem::path& path,
                                                      const TokenizerConfig& config);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
