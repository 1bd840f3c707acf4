// The longest token with which a text begins, byte by byte.
#include "tokenizers/piece_search.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

unsigned nth_byte(const std::string& text, std::size_t n) {
  return static_cast<unsigned char>(text[n]);
}

}  // namespace

PieceSearch::PieceSearch(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](const Piece& piece) { return piece.text.empty(); });
  std::ranges::sort(pieces_, {}, &Piece::text);
  for (unsigned byte = 0; byte <= 256; ++byte) {
    const auto begin = std::ranges::partition_point(
        pieces_, [&](const Piece& piece) { return nth_byte(piece.text, 0) < byte; });
    first_byte_.push_back(std::size_t(begin - pieces_.begin()));
  }
}

const PieceSearch::Piece* PieceSearch::longest(std::string_view text) const {
  if (text.empty()) return nullptr;
  const std::size_t first = static_cast<unsigned char>(text[0]);
  std::span<const Piece> left(pieces_.begin() + std::ptrdiff_t(first_byte_[first]),
                              pieces_.begin() + std::ptrdiff_t(first_byte_[first + 1]));
  const Piece* longest = nullptr;
  // All pieces in `left` begin with text[0, length). One that is no longer comes first.
  for (std::size_t length = 1; !left.empty(); ++length) {
    if (left.front().text.size() == length) {
      longest = &left.front();
      left = left.subspan(1);
    }
    if (length == text.size()) break;
    const unsigned byte = static_cast<unsigned char>(text[length]);
    const auto next_byte = [&](const Piece& piece) { return nth_byte(piece.text, length); };
    const auto begin = std::partition_point(
        left.begin(), left.end(), [&](const Piece& piece) { return next_byte(piece) < byte; });
    const auto end = std::partition_point(
        begin, left.end(), [&](const Piece& piece) { return next_byte(piece) == byte; });
    left = {begin, end};
  }
  return longest;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
