// JSON from outside, member by member.
#include "tokenizers/json_part.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index largest_file = 100'000'000;  // bytes

const Record& null_record() {
  static const Record null;
  return null;
}

}  // namespace

JsonPart JsonPart::of_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto value = std::make_shared<const Record>(
      parse_json(read_file(path, largest_file), name, keys_of_vocabulary));
  JsonPart part(value, name);
  if (!part.is_object()) part.wrong_kind("an object");
  return part;
}

JsonPart JsonPart::of_file_if_any(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return of_file(path);
  return {std::make_shared<const Record>(Record::object()), path.string()};
}

JsonPart JsonPart::inner(const Record& value, const std::string& name) const {
  return {std::shared_ptr<const Record>(value_, &value),
          fmt::format("{}/{}", place_, printable(name))};
}

JsonPart JsonPart::operator[](const std::string& key) const {
  if (is_null()) return inner(null_record(), key);
  if (!is_object()) wrong_kind("an object");
  const auto found = value_->find(key);
  return inner(found == value_->end() ? null_record() : *found, key);
}

std::vector<JsonPart> JsonPart::elements() const {
  std::vector<JsonPart> parts;
  if (is_null()) return parts;
  if (!is_list()) wrong_kind("a list");
  for (const Record& value : *value_) parts.push_back(inner(value, std::to_string(parts.size())));
  return parts;
}

std::vector<std::pair<std::string, JsonPart>> JsonPart::members() const {
  std::vector<std::pair<std::string, JsonPart>> parts;
  if (is_null()) return parts;
  if (!is_object()) wrong_kind("an object");
  for (const auto& [key, value] : value_->items()) parts.emplace_back(key, inner(value, key));
  return parts;
}

bool JsonPart::flag() const {
  if (!value_->is_boolean()) wrong_kind("true or false");
  return value_->get<bool>();
}

Index JsonPart::integer() const {
  // No number in these files comes near the limit, so that one beyond it is none.
  if (!value_->is_number_integer() || value_->get<double>() > 1e15) wrong_kind("an integer");
  return value_->get<Index>();
}

std::string JsonPart::text() const {
  if (!is_text()) wrong_kind("a text");
  return value_->get<std::string>();
}

void JsonPart::refuse(const std::string& reason) const {
  throw FileError(fmt::format("{}: {}", place_, reason));
}

void JsonPart::wrong_kind(const char* wanted) const {
  refuse(is_null()
             ? fmt::format("{} is missing", wanted)
             : fmt::format("must be {}, not {}", wanted, printable(value_->dump(-1, ' ', true))));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
