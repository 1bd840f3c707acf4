// The values of settings to and from JSON, by the type of their member.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "headroom/base/head_list.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/runs/folds.hpp"
#include "headroom_runs/runs/setting.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace setting_values {

/// Throws UsageError: "clip" must be a number, not "x".
[[noreturn]] void must_be(const std::string& shown, const char* wanted, const Record& value);

template <class T>
struct Value;  // of each type: its SettingType, its word in help, and both directions

template <>
struct Value<bool> {
  static constexpr SettingType type = SettingType::flag;
  static constexpr const char* word = "";
  static Record written(bool v) { return v; }
  static bool read(const Record& value, const std::string& shown) {
    if (!value.is_boolean()) must_be(shown, "true or false", value);
    return value.get<bool>();
  }
};

template <>
struct Value<Index> {
  static constexpr SettingType type = SettingType::whole;
  static constexpr const char* word = "";
  static Record written(Index v) { return v; }
  static Index read(const Record& value, const std::string& shown) {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<Index>() < 0)) {
      must_be(shown, "a 64-bit integer", value);
    }
    return value.get<Index>();
  }
};

template <>
struct Value<std::uint64_t> {
  static constexpr SettingType type = SettingType::whole;
  static constexpr const char* word = "";
  static Record written(std::uint64_t v) { return v; }
  static std::uint64_t read(const Record& value, const std::string& shown) {
    const bool negative =
        !value.is_number_unsigned() && value.is_number_integer() && value.get<Index>() < 0;
    if (!value.is_number_integer() || negative) must_be(shown, "a whole number from 0", value);
    return value.get<std::uint64_t>();
  }
};

template <class Number>
requires std::is_floating_point_v<Number>
struct Value<Number> {
  static constexpr SettingType type = SettingType::number;
  static constexpr const char* word = "";
  static Record written(Number v) {
    if constexpr (std::is_same_v<Number, Real>) return shortest_number(v);
    return v;
  }
  static Number read(const Record& value, const std::string& shown) {
    if (!value.is_number()) must_be(shown, "a number", value);
    return static_cast<Number>(value.get<double>());
  }
};

template <>
struct Value<std::string> {
  static constexpr SettingType type = SettingType::text;
  static constexpr const char* word = "NAME";
  static Record written(const std::string& v) { return v; }
  static std::string read(const Record& value, const std::string& shown) {
    if (!value.is_string()) must_be(shown, "a text", value);
    return value.get<std::string>();
  }
};

template <>
struct Value<std::filesystem::path> {
  static constexpr SettingType type = SettingType::text;
  static constexpr const char* word = "FILE";
  static Record written(const std::filesystem::path& v) { return v.string(); }
  static std::filesystem::path read(const Record& value, const std::string& shown) {
    return Value<std::string>::read(value, shown);
  }
};

template <class Enum>
requires std::is_enum_v<Enum>
struct Value<Enum> {
  static constexpr SettingType type = SettingType::text;
  static constexpr const char* word = "NAME";
  static Record written(Enum v) { return name_of(v); }
  static Enum read(const Record& value, const std::string& shown) {
    const std::string name = Value<std::string>::read(value, shown);
    if constexpr (std::is_same_v<Enum, Layout>) return layout_from(name, shown);
    return from_name<Enum>(shown.c_str(), name);
  }
};

template <>
struct Value<Fold> {
  static constexpr SettingType type = SettingType::text;
  static constexpr const char* word = "K/N";
  static Record written(const Fold& v) { return v.parts == 1 ? "" : v.text(); }
  static Fold read(const Record& value, const std::string& shown) {
    return fold_from(Value<std::string>::read(value, shown), shown);
  }
};

template <>
struct Value<std::vector<HeadId>> {
  static constexpr SettingType type = SettingType::text;
  static constexpr const char* word = "HEADS";
  static Record written(const std::vector<HeadId>& v) { return heads_text(v); }
  static std::vector<HeadId> read(const Record& value, const std::string& shown) {
    return heads_from(Value<std::string>::read(value, shown), shown);
  }
};

template <>
struct Value<std::vector<Index>> {
  static constexpr SettingType type = SettingType::wholes;
  static constexpr const char* word = "";
  static Record written(const std::vector<Index>& v) { return v; }
  static std::vector<Index> read(const Record& value, const std::string& shown) {
    if (!value.is_array()) must_be(shown, "a list of whole numbers", value);
    std::vector<Index> all;
    for (const Record& entry : value) all.push_back(Value<Index>::read(entry, shown));
    return all;
  }
};

}  // namespace setting_values
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
