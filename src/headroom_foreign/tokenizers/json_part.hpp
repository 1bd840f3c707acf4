// JsonPart: a part of a JSON file from outside, read member by member.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A value in a JSON file with its place, which all messages name. A member that is missing is the
/// same as one that is null. All functions throw FileError for a value of another kind.
class JsonPart {
 public:
  /// A file as a whole: an object, in which a vocabulary may have a million keys.
  static JsonPart of_file(const std::filesystem::path& path);
  /// The same, or an empty object where there is no such file.
  static JsonPart of_file_if_any(const std::filesystem::path& path);

  /// A member of this object.
  JsonPart operator[](const std::string& key) const;
  /// The elements of this list; of null, none.
  std::vector<JsonPart> elements() const;
  /// The members of this object with their keys; of null, none.
  std::vector<std::pair<std::string, JsonPart>> members() const;

  bool is_null() const { return value_->is_null(); }
  bool is_text() const { return value_->is_string(); }
  bool is_list() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }

  bool flag() const;
  Index integer() const;
  std::string text() const;
  /// The same, and another value in place of null.
  bool flag_or(bool value) const { return is_null() ? value : flag(); }
  Index integer_or(Index value) const { return is_null() ? value : integer(); }
  std::string text_or(const std::string& value) const { return is_null() ? value : text(); }

  /// "m/tokenizer.json/model/vocab"
  const std::string& place() const { return place_; }
  /// Throws FileError: the place and what is wrong there.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  JsonPart(std::shared_ptr<const Record> value, std::string place)
      : value_(std::move(value)), place_(std::move(place)) {}
  JsonPart inner(const Record& value, const std::string& name) const;
  [[noreturn]] void wrong_kind(const char* wanted) const;

  std::shared_ptr<const Record> value_;  // keeps the whole file
  std::string place_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
