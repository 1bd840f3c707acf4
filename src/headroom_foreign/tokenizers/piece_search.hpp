// PieceSearch: the longest token with which a text begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Tokens in byte order. Those that begin with the same bytes are neighbours, so that each further
/// byte of a text narrows the range of tokens that are left, by binary search.
class PieceSearch {
 public:
  struct Piece {
    std::string text;
    std::int32_t id;
  };

  explicit PieceSearch(std::vector<Piece> pieces);
  /// The longest piece with which `text` begins. Takes time for the length of that piece, not for
  /// that of the text.
  const Piece* longest(std::string_view text) const;

 private:
  std::vector<Piece> pieces_;            // in byte order
  std::vector<std::size_t> first_byte_;  // [257]: where the pieces with each first byte begin
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
