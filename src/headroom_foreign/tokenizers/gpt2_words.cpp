// The words of GPT-2. Its program describes them by the regular expression
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// which this file matches from left to right and looks at no character more than three times.
#include <string_view>

#include "headroom_foreign/tokenizers/byte_bpe.hpp"
#include "tokenizers/unicode.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum class CharKind { space, letter, number, other };

CharKind kind_of(char32_t c) {
  if (c < 0x80) {
    const char32_t lower = c | 0x20;
    if (lower >= 'a' && lower <= 'z') return CharKind::letter;
    if (c >= '0' && c <= '9') return CharKind::number;
    return is_space(c) ? CharKind::space : CharKind::other;
  }
  if (is_letter(c)) return CharKind::letter;
  if (is_number(c)) return CharKind::number;
  return is_space(c) ? CharKind::space : CharKind::other;
}

// Where the characters of one kind end that begin at `at`.
std::size_t end_of_run(std::string_view text, std::size_t at, CharKind kind) {
  while (at < text.size()) {
    const auto [c, bytes] = code_point_at(text, at);
    if (kind_of(c) != kind) break;
    at += bytes;
  }
  return at;
}

// The length of an English ending with its apostrophe, 0 if there is none.
std::size_t ending_length(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

}  // namespace

std::size_t gpt2_word_end(std::string_view text, std::size_t begin) {
  if (const std::size_t length = ending_length(text.substr(begin, 3))) return begin + length;

  const bool after_space = text[begin] == ' ' && begin + 1 < text.size();
  const std::size_t first = after_space ? begin + 1 : begin;
  const CharKind kind = kind_of(code_point_at(text, first).value);
  if (kind != CharKind::space) return end_of_run(text, first, kind);

  // A run of spaces. If something follows, the last space belongs to it, unless it is the only one:
  // that is a tab or another space that no word takes.
  std::size_t end = begin, last = begin;
  while (end < text.size()) {
    const auto [c, bytes] = code_point_at(text, end);
    if (!is_space(c)) return last > begin ? last : end;
    last = end;
    end += bytes;
  }
  return end;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
