// The tokens of a file and their ids, which nobody has checked before.
#include "headroom_foreign/tokenizers/token_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_tokens = 1'000'000;

}  // namespace

TokenTable::TokenTable(std::vector<TokenWithId> tokens, const std::string& origin) {
  const auto broken = [&](const std::string& rule) {
    return FileError(fmt::format("{}: {}", origin, rule));
  };
  const Index count = std::ssize(tokens);
  if (count == 0) throw broken("the vocabulary is empty");
  if (count > most_tokens) {
    throw broken(fmt::format("{} tokens; at most {} are read", count, most_tokens));
  }
  tokens_.resize(tokens.size());
  for (auto& [token, id] : tokens) {
    if (token.empty()) throw broken(fmt::format("token {} is empty", id));
    if (find_malformed_utf8(token)) {
      throw broken(fmt::format("token {}, \"{}\", is not UTF-8", id, printable(token)));
    }
    if (id < 0 || id >= count) {
      throw broken(fmt::format("token \"{}\" has id {}, but the ids of {} tokens are 0 to {}",
                               printable(token), id, count, count - 1));
    }
    std::string& place = at(tokens_, id);
    if (!place.empty()) {
      throw broken(fmt::format("tokens \"{}\" and \"{}\" have the same id, {}", printable(place),
                               printable(token), id));
    }
    place = std::move(token);
  }
  // As many ids as tokens, no two the same and none too large: there are no holes.
  for (Index id = 0; id < count; ++id) {
    const auto [found, is_new] = ids_.emplace(at(tokens_, id), static_cast<std::int32_t>(id));
    if (!is_new) {
      throw broken(fmt::format("token \"{}\" occurs twice, with ids {} and {}",
                               printable(found->first), found->second, id));
    }
  }
}

const std::string& TokenTable::token(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw UsageError(
        fmt::format("tokenizer: token {} is outside the vocabulary of {}", id, size()));
  }
  return at(tokens_, id);
}

std::optional<std::int32_t> TokenTable::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
