// The words of BERT: text without accents and upper case, split at spaces and punctuation.
#include <array>

#include "headroom_foreign/tokenizers/word_piece.hpp"
#include "tokenizers/unicode.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr char32_t replacement = 0xFFFD;

// The blocks of Chinese characters. Japanese and Korean letters are not among them: those languages
// write words.
bool is_chinese(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  constexpr std::array<Block, 8> blocks = {{{0x4E00, 0x9FFF},
                                            {0x3400, 0x4DBF},
                                            {0x20000, 0x2A6DF},
                                            {0x2A700, 0x2B73F},
                                            {0x2B740, 0x2B81F},
                                            {0x2B920, 0x2CEAF},
                                            {0xF900, 0xFAFF},
                                            {0x2F800, 0x2FA1F}}};
  for (const Block& block : blocks) {
    if (block.first <= c && c <= block.last) return true;
  }
  return false;
}

bool is_line_space(char32_t c) { return c == '\t' || c == '\n' || c == '\r'; }

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

bool is_bert_punctuation(char32_t c) {
  return c < 0x80 ? is_ascii_punctuation(c) : is_punctuation(c);
}

// Appends one code point after the rules for controls, spaces and Chinese characters.
void append_cleaned(char32_t c, const BertRules& rules, std::u32string& text) {
  if (rules.clean_text) {
    if (c == 0 || c == replacement || (is_control(c) && !is_line_space(c))) return;
    if (is_space(c)) c = ' ';
  }
  if (rules.handle_chinese_chars && is_chinese(c)) {
    text += {U' ', c, U' '};
  } else {
    text += c;
  }
}

// Appends cleaned text.
void append_normalized(std::u32string text, const BertRules& rules, std::string& result) {
  const bool strip = rules.strip_accents.value_or(rules.lowercase);
  if (strip) text = decomposed(text);
  for (const char32_t c : text) {
    if (strip && is_nonspacing_mark(c)) continue;
    if (rules.lowercase) {
      append_lower(c, result);
    } else {
      append_utf8(c, result);
    }
  }
}

// Whether a byte is an ASCII character that stays in the text.
bool stays(char c, const BertRules& rules) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (!rules.clean_text || is_line_space(byte) || (byte >= ' ' && byte != 0x7F));
}

// Appends an ASCII character that stays. Most texts are mostly ASCII, for which this is fast.
void append_ascii(char c, const BertRules& rules, std::string& result) {
  if (rules.clean_text && c < ' ') c = ' ';
  result += rules.lowercase && c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

}  // namespace

std::string bert_normalized(std::string_view text, const BertRules& rules) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    if (stays(text[at], rules)) {
      append_ascii(text[at++], rules, result);
      continue;
    }
    // Decomposition sorts accents, but never across an ASCII character that stays.
    std::u32string others;
    while (at < text.size() && !stays(text[at], rules)) {
      const auto [c, bytes] = code_point_at(text, at);
      append_cleaned(c, rules, others);
      at += bytes;
    }
    append_normalized(std::move(others), rules, result);
  }
  return result;
}

std::vector<std::string_view> bert_words(std::string_view normalized) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;  // of the word that `at` is in
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(normalized.substr(begin, end - begin));
  };
  for (std::size_t at = 0; at < normalized.size();) {
    const auto [c, bytes] = code_point_at(normalized, at);
    const bool punctuation = is_bert_punctuation(c);
    if (punctuation || is_space(c)) {
      end_word(at);
      if (punctuation) words.push_back(normalized.substr(at, bytes));
      begin = at + bytes;
    }
    at += bytes;
  }
  end_word(normalized.size());
  return words;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
