// Structs to and from JSON by one list of their fields.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/head_id.hpp"
#include "headroom/base/listed.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// A struct lists its fields once (base/listed.hpp):
// ```
// struct Point {
//   Index step = 0;
//   double value = 0;
//   std::optional<double> error = {};
//   std::vector<std::string> notes = {};
//   using T = Point;
//   using Fields = Listed<&T::step, &T::value, &T::error, if_any<&T::notes>>;
// };
// const Record record = json_of(point);                   // {"step":3,"value":0.5,"error":null}
// const auto point = struct_of<Point>(record, "a.json");  // DataError: a.json: step is missing
// ```
// Fields may be bool, integers, double, texts, enumerations, Record (any JSON), other such structs,
// and std::optional, std::vector and std::map<std::string, T> of all these. A type with its own
// JSON form has two functions in its namespace, `Record json_of(const T&)` and
// `void read_json(const JsonNode&, T&)`.

/// A value in a JSON text, with the way to it for error messages. It refers to its parent.
class JsonNode {
 public:
  /// `origin` names the text: a file.
  JsonNode(const Record& value, const std::string& origin) : value_(&value), origin_(&origin) {}
  JsonNode(const Record& value, const JsonNode& parent, const char* key)
      : value_(&value), parent_(&parent), key_(key) {}
  JsonNode(const Record& value, const JsonNode& parent, std::size_t index)
      : value_(&value), parent_(&parent), index_(index) {}

  const Record& value() const { return *value_; }
  /// "records.json: heads[3].layer"
  std::string path() const;
  /// Throws DataError: `records.json: heads[3].layer must be a whole number, not "x"`.
  [[noreturn]] void must_be(std::string_view expected) const;
  /// Throws DataError: the path, then `text`.
  [[noreturn]] void fail(std::string_view text) const;
  /// Throws DataError unless each of the object's members is one of `known`.
  void refuse_others(const std::set<std::string>& known) const;

 private:
  const Record* value_;
  const std::string* origin_ = nullptr;
  const JsonNode* parent_ = nullptr;
  const char* key_ = nullptr;
  std::size_t index_ = 0;
};

namespace fields_detail {
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
}  // namespace fields_detail

// ---------------------------------------------------------------- to JSON

inline Record json_of(bool value) { return value; }
inline Record json_of(const Record& value) { return value; }
inline Record json_of(const std::string& value) { return value; }
inline Record json_of(const char* value) { return value; }
/// null when the number is not finite.
template <std::floating_point T>
Record json_of(T value) {
  return std::isfinite(value) ? Record(double(value)) : Record();
}
/// With the fewest digits that read back as this number.
Record json_of(float value);
template <std::integral T>
Record json_of(T value) {
  return value;
}
template <class T>
requires std::is_enum_v<T> Record json_of(T value) { return name_of(value); }
template <class T>
Record json_of(const std::optional<T>& value);
template <class T>
Record json_of(const std::vector<T>& list);
template <class T>
Record json_of(const std::map<std::string, T>& map);
template <HasFields T>
Record json_of(const T& value);

template <class T>
Record json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Record();
}

template <class T>
Record json_of(const std::vector<T>& list) {
  Record record = Record::array();
  for (const T& value : list) record.push_back(json_of(value));
  return record;
}

template <class T>
Record json_of(const std::map<std::string, T>& map) {
  Record record = Record::object();
  for (const auto& [key, value] : map) record[key] = json_of(value);
  return record;
}

namespace fields_detail {
template <class T>
struct Writer {
  const T& from;
  Record& to;
  template <class Member>
  void operator()(const char* key, Member member, Presence presence) const {
    Record field = json_of(std::invoke(member, from));
    const bool optional = is_optional<std::remove_cvref_t<decltype(std::invoke(member, from))>>;
    const bool any = !field.empty() && (optional || field != "");
    if (any || presence == Presence::always) to[key] = std::move(field);
  }
  template <class Member>
  void operator()(TheRest, Member member, Presence) const {
    to.update(json_of(std::invoke(member, from)));
  }
};
}  // namespace fields_detail

template <HasFields T>
Record json_of(const T& value) {
  Record record = Record::object();
  T::Fields::each(fields_detail::Writer<T>{value, record});
  return record;
}

// ---------------------------------------------------------------- from JSON

// All throw DataError that names file, field and what was expected. Whole numbers are at most 2^53
// in size, as pages can read them; null is read as a number that is not finite (NaN).
/// Reads a value from JSON. Throws DataError, naming where it is, for a value of another kind or
/// beyond the type's range.
void read_json(const JsonNode& from, bool& to);
void read_json(const JsonNode& from, Index& to);
void read_json(const JsonNode& from, std::uint64_t& to);
void read_json(const JsonNode& from, double& to);
void read_json(const JsonNode& from, float& to);
void read_json(const JsonNode& from, std::string& to);
template <class Enum>
requires std::is_enum_v<Enum>
void read_json(const JsonNode& from, Enum& to);
inline void read_json(const JsonNode& from, Record& to) { to = from.value(); }
template <class T>
void read_json(const JsonNode& from, std::optional<T>& to);
template <class T>
void read_json(const JsonNode& from, std::vector<T>& to);
template <class T>
void read_json(const JsonNode& from, std::map<std::string, T>& to);
template <HasFields T>
void read_json(const JsonNode& from, T& to);

template <class Enum>
requires std::is_enum_v<Enum>
void read_json(const JsonNode& from, Enum& to) {
  for (const Enum member : all_of<Enum>()) {
    if (from.value() != name_of(member)) continue;
    to = member;
    return;
  }
  from.must_be("one of " + names_of<Enum>());
}

template <class T>
void read_json(const JsonNode& from, std::optional<T>& to) {
  to.reset();
  if (!from.value().is_null()) read_json(from, to.emplace());
}

template <class T>
void read_json(const JsonNode& from, std::vector<T>& to) {
  if (!from.value().is_array()) from.must_be("a list");
  to.clear();
  to.reserve(from.value().size());
  for (const Record& value : from.value()) {
    const JsonNode element(value, from, to.size());
    read_json(element, to.emplace_back());
  }
}

template <class T>
void read_json(const JsonNode& from, std::map<std::string, T>& to) {
  if (!from.value().is_object()) from.must_be("an object");
  to.clear();
  for (const auto& [key, value] : from.value().items()) {
    read_json(JsonNode(value, from, key.c_str()), to[key]);
  }
}

namespace fields_detail {
template <class T>
struct Reader {
  const JsonNode& from;
  T& to;
  std::set<std::string> known = {};
  bool has_rest = false;

  template <class Member>
  void operator()(const char* key, Member member, Presence presence) {
    auto& field = std::invoke(member, to);
    known.insert(key);
    const auto found = from.value().find(key);
    if (found != from.value().end()) {
      read_json(JsonNode(*found, from, key), field);
    } else if (presence == Presence::always && !is_optional<std::remove_cvref_t<decltype(field)>>) {
      from.fail(std::string("\"") + key + "\" is missing");
    }
  }
  /// Comes last, when all other fields are known.
  template <class Member>
  void operator()(TheRest, Member member, Presence) {
    has_rest = true;
    auto& rest = std::invoke(member, to);
    for (const auto& [key, value] : from.value().items()) {
      if (known.count(key) == 0) read_json(JsonNode(value, from, key.c_str()), rest[key]);
    }
  }
};
}  // namespace fields_detail

template <HasFields T>
void read_json(const JsonNode& from, T& to) {
  if (!from.value().is_object()) from.must_be("an object");
  fields_detail::Reader<T> reader{from, to};
  T::Fields::each(reader);
  if (!reader.has_rest) from.refuse_others(reader.known);
}

/// The struct that a JSON text holds; `origin` names the text in errors.
template <class T>
T struct_of(const Record& record, const std::string& origin) {
  T value;
  read_json(JsonNode(record, origin), value);
  return value;
}

/// A head is the text of its HeadId: "cross 0.3".
Record json_of(const HeadId& head);
void read_json(const JsonNode& from, HeadId& to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
