// TokenTable: the tokens of a file by id, and their ids.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The hash of a text, for maps from std::string that are searched by std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// A token and the id that a file gives it, which may be anything.
struct TokenWithId {
  std::string token;
  Index id = 0;
};

/// The tokens of a vocabulary. Their ids are 0, 1, 2 and so on without holes.
class TokenTable {
 public:
  /// Throws FileError, naming `origin`, for a token or an id that occurs twice, an empty token, one
  /// that is not UTF-8, an id that is negative or not less than the number of tokens, no token, and
  /// more than a million tokens.
  TokenTable(std::vector<TokenWithId> tokens, const std::string& origin);

  Index size() const { return Index(tokens_.size()); }
  /// Throws UsageError for an id outside the vocabulary.
  const std::string& token(std::int32_t id) const;
  /// The id of a token, if it is in the vocabulary.
  std::optional<std::int32_t> find(std::string_view token) const;
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> ids_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
