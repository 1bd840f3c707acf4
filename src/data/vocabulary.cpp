// Tokens and their ids.
#include "headroom/data/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<std::string> special_symbols(Specials specials) {
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

template <class Enum>
bool is_name(const std::string& name) {
  constexpr auto members = all_of<Enum>();
  return std::any_of(members.begin(), members.end(),
                     [&](Enum member) { return name == name_of(member); });
}

std::vector<std::string> symbols_of(Symbols kind, std::string_view text) {
  return kind == Symbols::characters ? code_points(text) : words_of(text);
}

}  // namespace

Vocabulary::Vocabulary(Symbols kind, Specials specials, std::vector<std::string> symbols)
    : kind_(kind), specials_(specials), symbols_(special_symbols(specials)) {
  for (std::string& symbol : symbols) {
    if (!numbers_.emplace(symbol, static_cast<std::int32_t>(symbols_.size())).second) {
      throw UsageError(fmt::format("vocabulary: token \"{}\" occurs twice", printable(symbol)));
    }
    symbols_.push_back(std::move(symbol));
  }
}

Vocabulary Vocabulary::of_text(Symbols kind, Specials specials, std::string_view text) {
  std::vector<std::string> all = symbols_of(kind, text);
  const std::set<std::string> different(all.begin(), all.end());
  return Vocabulary(kind, specials, {different.begin(), different.end()});
}

std::int32_t Vocabulary::special(const char* symbol, std::int32_t token) const {
  if (specials_ != Specials::all) {
    throw UsageError(fmt::format("vocabulary: it has no {}", symbol));
  }
  return token;
}

std::int32_t Vocabulary::pad() const { return special("<pad>", 0); }
std::int32_t Vocabulary::bos() const {
  return specials_ == Specials::bos ? 0 : special("<bos>", 1);
}
std::int32_t Vocabulary::eos() const { return special("<eos>", 2); }
std::int32_t Vocabulary::unk() const { return special("<unk>", 3); }

std::vector<std::string> Vocabulary::symbols_in(std::string_view text) const {
  return symbols_of(kind_, text);
}

Tokens Vocabulary::encode(std::string_view text) const {
  Tokens tokens;
  for (const std::string& symbol : symbols_in(text)) {
    const auto found = numbers_.find(symbol);
    if (found != numbers_.end()) {
      tokens.push_back(found->second);
    } else if (specials_ == Specials::all) {
      tokens.push_back(unk());
    } else {
      throw DataError(fmt::format("\"{}\" is not one of the {} tokens in the model's vocabulary",
                                  printable(symbol), plain_size()));
    }
  }
  return tokens;
}

std::string Vocabulary::decode(std::span<const std::int32_t> tokens) const {
  const auto first_plain = static_cast<std::int32_t>(special_symbols(specials_).size());
  std::string text;
  for (const std::int32_t token : tokens) {
    if (specials_ == Specials::all && token == eos()) break;
    const std::string& plain = symbol(token);
    if (token < first_plain) continue;
    if (kind_ == Symbols::words && !text.empty()) text += ' ';
    text += plain;
  }
  return text;
}

const std::string& Vocabulary::symbol(std::int32_t token) const {
  if (token < 0 || token >= size()) {
    throw UsageError(
        fmt::format("vocabulary: token {} is outside the vocabulary of {}", token, size()));
  }
  return at(symbols_, token);
}

Record Vocabulary::record() const {
  const auto first_plain = static_cast<std::ptrdiff_t>(special_symbols(specials_).size());
  Record record;
  record["kind"] = name_of(kind_);
  record["specials"] = name_of(specials_);
  record["symbols"] = std::vector<std::string>(symbols_.begin() + first_plain, symbols_.end());
  return record;
}

Vocabulary Vocabulary::from_record(const Record& record, const std::string& origin) {
  const std::string kind = json_text(record, "kind", origin);
  const std::string specials = json_text(record, "specials", origin);
  if (!is_name<Symbols>(kind) || !is_name<Specials>(specials) || !record.contains("symbols") ||
      !record["symbols"].is_array()) {
    throw FileError(fmt::format("{}: not a vocabulary: kind \"{}\", specials \"{}\"", origin,
                                printable(kind), printable(specials)));
  }
  std::vector<std::string> symbols;
  for (const Record& symbol : record["symbols"]) {
    if (!symbol.is_string()) {
      throw FileError(
          fmt::format("{}: token {} of the vocabulary is not a text", origin, symbols.size()));
    }
    symbols.push_back(symbol.get<std::string>());
  }
  try {
    return Vocabulary(from_name<Symbols>("kind", kind), from_name<Specials>("specials", specials),
                      std::move(symbols));
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", origin, error.what()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
