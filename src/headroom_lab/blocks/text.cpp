// Sentences with values: parsing of patterns, formatting, and merging of two precisions.
#include "headroom_lab/blocks/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "headroom/base/error.hpp"
#include "headroom/base/listed.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A piece of a pattern: words (with doubled braces), then a placeholder's format, which the last
/// piece lacks.
struct Piece {
  std::string words;
  std::optional<std::string> format;
};

/// Returns true for the formats that a placeholder may have: "", ",", ".2f", ".10g".
bool is_format(std::string_view format) {
  if (format.empty() || format == ",") return true;
  if (format.size() < 3 || format.size() > 4 || format.front() != '.') return false;
  const std::string_view digits = format.substr(1, format.size() - 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos &&
         std::string_view("efg").find(format.back()) != std::string_view::npos;
}

/// Throws UsageError for braces that are neither doubled nor a placeholder.
std::vector<Piece> pieces_of(const std::string& pattern) {
  std::vector<Piece> pieces(1);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const bool brace = c == '{' || c == '}';
    pieces.back().words += c;
    if (!brace) continue;
    if (at + 1 < pattern.size() && pattern[at + 1] == c) {
      pieces.back().words += pattern[++at];
      continue;
    }
    const std::size_t close = pattern.find('}', at);
    std::string format = pattern.substr(at + 1, close - at - 1);
    if (format.starts_with(':')) format.erase(0, 1);
    if (c == '}' || close == std::string::npos || !is_format(format)) {
      throw UsageError(fmt::format("\"{}\": not a placeholder at {}", pattern, at));
    }
    pieces.back().words.pop_back();
    pieces.back().format = std::move(format);
    pieces.emplace_back();
    at = close;
  }
  return pieces;
}

std::string with_single_braces(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    if (text[at] == '{' || text[at] == '}') ++at;
  }
  return result;
}

std::string with_double_braces(const std::string& text) {
  std::string result;
  for (const char c : text) result.append(c == '{' || c == '}' ? 2 : 1, c);
  return result;
}

/// Formats a value in a sentence. A format of numbers does not apply to other values.
std::string formatted(const Value& value, const std::string& format) {
  const auto* whole = value.get<Index>();
  const auto* number = value.get<double>();
  if (format == "," || (whole == nullptr && number == nullptr)) return words(value);
  if (format.empty()) return whole ? fmt::format("{}", *whole) : fmt::format("{}", *number);
  return fmt::format(fmt::runtime("{:" + format + "}"), whole ? double(*whole) : *number);
}

std::string placeholder(const std::string& format) {
  return format.empty() ? "{}" : "{:" + format + "}";
}

}  // namespace

Text::Text(const char* plain) : Text(std::string(plain)) {}
Text::Text(const std::string& plain) : pattern(with_double_braces(plain)) {}

Text checked_text(std::string pattern, std::vector<Value> values) {
  const std::size_t places = pieces_of(pattern).size() - 1;
  if (places != values.size()) {
    throw UsageError(
        fmt::format("\"{}\": {} values for {} placeholders", pattern, values.size(), places));
  }
  Text text;
  text.pattern = std::move(pattern);
  text.values = std::move(values);
  return text;
}

Text operator+(Text first, const Text& second) {
  first.pattern += second.pattern;
  first.values.insert(first.values.end(), second.values.begin(), second.values.end());
  return first;
}

std::string words(const Text& text) {
  std::string result;
  auto value = text.values.begin();
  for (const Piece& piece : pieces_of(text.pattern)) {
    result += with_single_braces(piece.words);
    if (piece.format && value != text.values.end()) result += formatted(*value++, *piece.format);
  }
  return result;
}

std::string words(const Value& value) {
  if (const auto* truth = value.get<bool>()) return *truth ? "yes" : "no";
  if (const auto* whole = value.get<Index>()) return figure_text(double(*whole));
  if (const auto* number = value.get<double>()) return figure_text(*number);
  if (const auto* word = value.get<std::string>()) return *word;
  if (const auto* interval = value.get<Interval>()) return interval->text();
  if (const auto* text = value.get<Text>()) return words(*text);
  return "";
}

Text joined(const Text& text, const std::string& precision, const Text& other) {
  if (words(text) == words(other)) return text;
  if (text.pattern != other.pattern) {
    return checked_text("{} (In {}: {})", {Value(text), Value(precision), Value(other)});
  }
  std::string pattern;
  std::vector<Value> values;
  const std::vector<Piece> pieces = pieces_of(text.pattern);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pattern += pieces[i].words;
    if (!pieces[i].format) continue;
    const Value &a = text.values[i], &b = other.values[i];
    const std::string place = placeholder(*pieces[i].format);
    const Text *part = a.get<Text>(), *other_part = b.get<Text>();
    const bool one_sentence =
        part != nullptr && other_part != nullptr && part->pattern == other_part->pattern;
    pattern += place;
    values.push_back(one_sentence ? Value(joined(*part, precision, *other_part)) : a);
    if (one_sentence || formatted(a, *pieces[i].format) == formatted(b, *pieces[i].format))
      continue;
    pattern += " (" + with_double_braces(precision) + ": " + place + ")";
    values.push_back(b);
  }
  return checked_text(std::move(pattern), std::move(values));
}

std::string figure_text(double number) {
  if (!std::isfinite(number)) return "not a number";
  if (number == std::round(number) && std::abs(number) < 1e15) {
    std::string digits = fmt::format("{:.0f}", std::abs(number));
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return fmt::format("{}{}", number < 0 ? "-" : "", digits);
  }
  const double size = std::abs(number);
  if (size >= 100 && size < 1e7) return figure_text(std::round(number));
  if (size >= 1e-3 && size < 1e7) return fmt::format("{:.3g}", number);
  const std::string text = fmt::format("{:.1e}", number);  // "3.6e-07"
  const std::size_t e = text.find('e');
  return text.substr(0, e + 1) + std::to_string(std::stoi(text.substr(e + 1)));
}

namespace {

/// An interval with what it was computed from.
struct Estimate {
  Interval interval;

  using T = Estimate;
  using Fields = Listed<fields_of<&T::interval>, if_any<inside_of<&T::interval, &Interval::of>>,
                        if_any<inside_of<&T::interval, &Interval::draws>>>;
};

}  // namespace

Record json_of(const Value& value) {
  if (value.get<std::monostate>() != nullptr) return nullptr;
  if (const auto* interval = value.get<Interval>()) return json_of(Estimate{*interval});
  return std::visit(
      [](const auto& kind) -> Record {
        if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, std::monostate>) {
          return nullptr;
        } else {
          return json_of(kind);
        }
      },
      value.kinds());
}

namespace {

/// A text before it is checked.
struct Parts {
  std::string pattern;
  std::vector<Value> values;

  using T = Parts;
  using Fields = Listed<named_as<"text", &T::pattern>, &T::values>;
};

template <class T>
Value value_as(const JsonNode& from) {
  T value;
  read_json(from, value);
  return Value(std::move(value));
}

}  // namespace

void read_json(const JsonNode& from, Value& to) {
  const Record& json = from.value();
  if (json.is_null()) {
    to = Value();
  } else if (json.is_boolean()) {
    to = value_as<bool>(from);
  } else if (json.is_number_integer()) {
    to = value_as<Index>(from);
  } else if (json.is_number()) {
    to = value_as<double>(from);
  } else if (json.is_string()) {
    to = value_as<std::string>(from);
  } else if (json.is_object() && json.contains("text")) {
    to = value_as<Text>(from);
  } else if (json.is_object()) {
    Estimate estimate;
    read_json(from, estimate);
    to = Value(std::move(estimate.interval));
  } else {
    from.must_be("a value");
  }
}

void read_json(const JsonNode& from, Text& to) {
  Parts parts;
  read_json(from, parts);
  try {
    to = checked_text(std::move(parts.pattern), std::move(parts.values));
  } catch (const UsageError& error) {
    from.fail(error.what());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
