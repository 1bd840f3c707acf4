// Tokens that are added to a vocabulary, and those with a role.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "tokenizers/tokenizer_files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct Role {
  std::optional<std::int32_t> SpecialIds::*id;
  std::vector<const char*> settings;  // that name its token
  std::vector<const char*> usual;     // tokens that have it where no setting names one
};

const std::vector<Role>& all_roles() {
  static const std::vector<Role> roles = {
      {&SpecialIds::pad, {"pad_token"}, {"[PAD]", "<pad>"}},
      {&SpecialIds::unk, {"unk_token"}, {"[UNK]", "<unk>"}},
      {&SpecialIds::begin, {"bos_token", "cls_token"}, {"[CLS]", "<s>", "<|endoftext|>"}},
      {&SpecialIds::end, {"eos_token", "sep_token"}, {"[SEP]", "</s>", "<|endoftext|>"}},
      {&SpecialIds::mask, {"mask_token"}, {"[MASK]", "<mask>"}}};
  return roles;
}

// The settings of a role that are not null, first those of tokenizer_config.json.
std::vector<JsonPart> settings_of(const Role& role, const TokenizerConfig& config) {
  std::vector<JsonPart> settings;
  for (const JsonPart& file : {config.config, config.special_tokens}) {
    for (const char* key : role.settings) {
      if (!file[key].is_null()) settings.push_back(file[key]);
    }
  }
  return settings;
}

// A token is written as a text, or as an object with its text and its flags.
std::string text_of_setting(const JsonPart& setting) {
  return setting.is_object() ? setting["content"].text() : setting.text();
}

}  // namespace

std::vector<TokenWithId> tokens_of_json(const JsonPart& vocabulary) {
  std::vector<TokenWithId> tokens;
  for (const auto& [token, id] : vocabulary.members()) tokens.push_back({token, id.integer()});
  return tokens;
}

AddedToken added_token_of_json(const JsonPart& token, Index id, bool rewrites) {
  AddedToken added;
  added.text = token["content"].text();
  if (added.text.empty()) token.refuse("an added token is empty");
  if (id < 0 || id >= 1'000'000) token.refuse(fmt::format("the id {} is impossible", id));
  added.id = static_cast<std::int32_t>(id);
  added.special = token["special"].flag_or(false);
  added.takes_spaces_before = token["lstrip"].flag_or(false);
  added.takes_spaces_after = token["rstrip"].flag_or(false);
  if (token["single_word"].flag_or(false)) {
    token.refuse("headroom does not compute added tokens with \"single_word\"");
  }
  if (rewrites && token["normalized"].flag_or(!added.special)) {
    token.refuse("headroom does not compute added tokens that are \"normalized\"");
  }
  return added;
}

TokenTable table_with_added(std::vector<TokenWithId> tokens, const std::vector<AddedToken>& added,
                            const std::string& origin) {
  std::unordered_map<std::string, Index> ids;
  for (const auto& [token, id] : tokens) ids.emplace(token, id);
  for (const AddedToken& token : added) {
    const auto [found, is_new] = ids.emplace(token.text, token.id);
    if (is_new) tokens.push_back({token.text, token.id});
    if (found->second != token.id) {
      throw FileError(fmt::format("{}: the added token \"{}\" has id {}, but {} in the vocabulary",
                                  origin, printable(token.text), token.id, found->second));
    }
  }
  return {std::move(tokens), origin};
}

SpecialIds special_ids_of(const TokenizerConfig& config, const TokenTable& table,
                          const std::vector<AddedToken>& added) {
  SpecialIds ids;
  for (const Role& role : all_roles()) {
    const auto settings = settings_of(role, config);
    if (!settings.empty()) {
      const std::string token = text_of_setting(settings.front());
      ids.*role.id = table.find(token);
      if (!(ids.*role.id)) {
        settings.front().refuse(
            fmt::format("the token \"{}\" is not in the vocabulary", printable(token)));
      }
      continue;
    }
    for (const char* token : role.usual) {
      const auto found = std::ranges::find(added, token, &AddedToken::text);
      if (found != added.end() && found->special && !(ids.*role.id)) ids.*role.id = found->id;
    }
  }
  return ids;
}

std::vector<std::string> tokens_with_roles(const TokenizerConfig& config) {
  std::vector<std::string> tokens;
  for (const Role& role : all_roles()) {
    for (const JsonPart& setting : settings_of(role, config)) {
      tokens.push_back(text_of_setting(setting));
    }
  }
  return tokens;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
