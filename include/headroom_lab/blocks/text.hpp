// Text: a sentence with values, which are formatted only when a page or a terminal shows it.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class Value;

/// A sentence whose values are kept apart from its words, so that two precisions can be compared
/// and joined value by value. Made by sentence(), or of plain text.
struct Text {
  /// The words, with a placeholder for every value: "the output is {:.2g} off". A placeholder is
  /// `{}`, `{:,}` (as figure_text()), or `{:.Ne}`, `{:.Nf}`, `{:.Ng}` with a number of digits N; it
  /// means what it means to fmt::format(). Braces of the text itself are doubled.
  std::string pattern;
  std::vector<Value> values;

  Text() = default;
  Text(const char* plain);
  Text(const std::string& plain);

  using T = Text;
  using Fields = Listed<named_as<"text", &T::pattern>, &T::values>;
};

/// The content of a placeholder or of a table's cell: nothing, a boolean, a number, a word, an
/// interval, or a nested sentence.
class Value {
 public:
  using Kinds = std::variant<std::monostate, bool, Index, double, std::string, Interval, Text>;

  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::is_same_v<T, bool>) Value(T value) : value_(Index(value)) {}
  template <std::floating_point T>
  Value(T value) : value_(double(value)) {}
  Value(const char* word) : value_(std::string(word)) {}
  Value(std::string word) : value_(std::move(word)) {}
  Value(const Interval& interval) : value_(interval) {}
  Value(Text text) : value_(std::move(text)) {}

  const Kinds& kinds() const { return value_; }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }

 private:
  Kinds value_;
};

/// sentence("off by {:.2g} in {} draws", 0.25, 5). Throws UsageError unless there is a placeholder
/// for each value.
template <class... Values>
Text sentence(const char* pattern, Values&&... values);

/// Concatenates two texts.
Text operator+(Text first, const Text& second);

/// The text with its values formatted.
std::string words(const Text& text);
/// The value as a table shows it: numbers as figure_text(), yes and no, "" for nothing.
std::string words(const Value& value);

/// Merges the texts of one sentence in two precisions. Values that are formatted differently are
/// shown side by side, "True in 55 (float: 57) of 100 draws"; so are sentences that differ, "Yes.
/// (In float: No.)".
Text joined(const Text& text, const std::string& precision, const Text& other);

/// "0.25", "3.6e-7", "1,050,624", "not a number".
std::string figure_text(double number);

/// A value in JSON: null, true, 3, 0.5, "word", {"value", "low", "high"} or {"text", "values"}.
Record json_of(const Value& value);
void read_json(const JsonNode& from, Value& to);
/// Throws DataError also when placeholders and values do not match.
void read_json(const JsonNode& from, Text& to);

/// The text of a pattern and its values; throws UsageError unless they match.
Text checked_text(std::string pattern, std::vector<Value> values);

template <class... Values>
Text sentence(const char* pattern, Values&&... values) {
  return checked_text(pattern, {Value(std::forward<Values>(values))...});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
