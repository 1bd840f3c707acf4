// Tokens and their ids.
#include "headroom/data/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<std::string> special_tokens(Specials specials) {
  switch (specials) {
    case Specials::none: return {};
    case Specials::bos: return {"<bos>"};
    case Specials::all: return {"<pad>", "<bos>", "<eos>", "<unk>"};
  }
  return {};
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view spaces = " \t\n";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(spaces); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(spaces, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(spaces, end);
  }
  return words;
}

std::vector<std::string> bytes_of(std::string_view text) {
  std::vector<std::string> bytes;
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    bytes.push_back(byte < 0x80 ? std::string{c} : fmt::format("\\x{:02X}", byte));
  }
  return bytes;
}

std::vector<std::string> tokens_of(TokenKind kind, std::string_view text) {
  if (kind == TokenKind::bytes) return bytes_of(text);
  return kind == TokenKind::characters ? code_points(text) : words_of(text);
}

}  // namespace

Vocabulary::Vocabulary(TokenKind kind, Specials specials, std::vector<std::string> tokens)
    : kind_(kind), specials_(specials), tokens_(special_tokens(specials)) {
  for (std::string& token : tokens) {
    if (!ids_.emplace(token, static_cast<std::int32_t>(tokens_.size())).second) {
      throw UsageError(fmt::format("vocabulary: token \"{}\" occurs twice", printable(token)));
    }
    tokens_.push_back(std::move(token));
  }
}

Vocabulary Vocabulary::of_text(TokenKind kind, Specials specials, std::string_view text) {
  std::vector<std::string> all = tokens_of(kind, text);
  const std::set<std::string> different(all.begin(), all.end());
  return Vocabulary(kind, specials, {different.begin(), different.end()});
}

std::string Vocabulary::kind_name() const { return name_of(kind_); }

SpecialIds Vocabulary::special_ids() const {
  SpecialIds ids;
  if (specials_ != Specials::none) ids.begin = ids.end = bos();
  if (specials_ == Specials::all) {
    ids.pad = pad();
    ids.unk = unk();
    ids.end = eos();
  }
  return ids;
}

std::int32_t Vocabulary::special(const char* token, std::int32_t id) const {
  if (specials_ != Specials::all) {
    throw UsageError(fmt::format("vocabulary: it has no {}", token));
  }
  return id;
}

std::int32_t Vocabulary::pad() const { return special("<pad>", 0); }
std::int32_t Vocabulary::bos() const {
  return specials_ == Specials::bos ? 0 : special("<bos>", 1);
}
std::int32_t Vocabulary::eos() const { return special("<eos>", 2); }
std::int32_t Vocabulary::unk() const { return special("<unk>", 3); }

std::vector<std::string> Vocabulary::tokens_in(std::string_view text) const {
  return tokens_of(kind_, text);
}

Tokens Vocabulary::encode(std::string_view text) const {
  Tokens ids;
  for (const std::string& token : tokens_in(text)) {
    const auto found = ids_.find(token);
    if (found != ids_.end()) {
      ids.push_back(found->second);
    } else if (specials_ == Specials::all) {
      ids.push_back(unk());
    } else {
      throw DataError(fmt::format("\"{}\" is not one of the {} tokens in the model's vocabulary",
                                  printable(token), plain_size()));
    }
  }
  return ids;
}

std::string Vocabulary::decode(std::span<const std::int32_t> ids) const {
  const auto first_plain = static_cast<std::int32_t>(special_tokens(specials_).size());
  std::string text;
  for (const std::int32_t id : ids) {
    if (specials_ == Specials::all && id == eos()) break;
    const std::string& plain = token(id);
    if (id < first_plain) continue;
    if (kind_ == TokenKind::words && !text.empty()) text += ' ';
    const bool is_byte = kind_ == TokenKind::bytes && plain.size() == 4;  // "\xC3"
    text += is_byte ? std::string{char(std::strtol(&plain[2], nullptr, 16))} : plain;
  }
  return well_formed(text);
}

const std::string& Vocabulary::token(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw UsageError(
        fmt::format("vocabulary: token {} is outside the vocabulary of {}", id, size()));
  }
  return at(tokens_, id);
}

Record Vocabulary::record() const {
  const auto first_plain = static_cast<std::ptrdiff_t>(special_tokens(specials_).size());
  Record record;
  record["kind"] = name_of(kind_);
  record["specials"] = name_of(specials_);
  record["tokens"] = std::vector<std::string>(tokens_.begin() + first_plain, tokens_.end());
  return record;
}

Vocabulary Vocabulary::from_record(const Record& record, const std::string& origin) {
  const Record all = record.is_object() ? record.value("tokens", Record()) : Record();
  if (!all.is_array()) throw FileError(origin + ": not a vocabulary: it has no list of tokens");
  std::vector<std::string> tokens;
  for (const Record& token : all) {
    if (!token.is_string()) {
      throw FileError(
          fmt::format("{}: token {} of the vocabulary is not a text", origin, tokens.size()));
    }
    tokens.push_back(token.get<std::string>());
  }
  try {
    return Vocabulary{from_name<TokenKind>("kind", json_text(record, "kind", origin)),
                      from_name<Specials>("specials", json_text(record, "specials", origin)),
                      std::move(tokens)};
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", origin, error.what()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
