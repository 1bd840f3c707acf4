// Strict reading of JSON over nlohmann's parser.
#include "headroom/io/json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/require.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t longest_text = 100'000'000;  // parsed, it takes ten times the memory
constexpr int deepest = 32;

const Record& member(const Record& record, const char* key, const std::string& origin) {
  if (!record.is_object() || !record.contains(key)) {
    throw FileError(fmt::format("{}: \"{}\" is missing", origin, key));
  }
  return record.at(key);
}

[[noreturn]] void wrong_kind(const Record& value, const char* key, const std::string& origin,
                             const char* wanted) {
  throw FileError(fmt::format("{}: \"{}\" must be {}, not {}", origin, key, wanted,
                              printable(value.dump(-1, ' ', true))));
}

template <class Json>
Json parsed(std::string_view text, const std::string& origin, std::size_t most_keys) {
  if (text.size() > longest_text) {
    throw FileError(fmt::format("{}: JSON of {} bytes; at most {} are read", origin, text.size(),
                                longest_text));
  }
  using Event = typename Json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open, outermost first
  const auto watch = [&](int depth, Event event, Json& value) {
    if ((event == Event::object_start || event == Event::array_start) && depth >= deepest) {
      throw FileError(fmt::format("{}: JSON nests deeper than {}", origin, deepest));
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key) {
      const auto& key = value.template get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        throw FileError(fmt::format("{}: JSON key \"{}\" occurs twice", origin, printable(key)));
      }
      if (keys.back().size() > most_keys) {
        throw FileError(fmt::format("{}: JSON object with more than {} keys", origin, most_keys));
      }
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const typename Json::exception& error) {
    const std::string_view words = error.what();  // "[json.exception.parse_error.101] ..."
    throw FileError(fmt::format("{}: malformed JSON: {}", origin,
                                printable(words.substr(words.find(' ') + 1), 200)));
  }
}

}  // namespace

Record parse_json(std::string_view text, const std::string& origin, std::size_t most_keys) {
  if (most_keys <= usual_keys) return parsed<Record>(text, origin, most_keys);
  require(most_keys <= keys_of_vocabulary,
          fmt::format("parse_json: at most {} keys, not {}", keys_of_vocabulary, most_keys));
  // A Record looks for each new key among all earlier ones, which takes quadratic time.
  return Record(parsed<nlohmann::json>(text, origin, most_keys));
}

Index json_integer(const Record& record, const char* key, const std::string& origin) {
  const Record& value = member(record, key, origin);
  const bool fits = !value.is_number_unsigned() ||
                    value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<Index>::max()};
  if (!value.is_number_integer() || !fits) wrong_kind(value, key, origin, "a 64-bit integer");
  return value.get<Index>();
}

double json_number(const Record& record, const char* key, const std::string& origin) {
  const Record& value = member(record, key, origin);
  if (!value.is_number()) wrong_kind(value, key, origin, "a number");
  return value.get<double>();
}

std::string json_text(const Record& record, const char* key, const std::string& origin) {
  const Record& value = member(record, key, origin);
  if (!value.is_string()) wrong_kind(value, key, origin, "a text");
  return value.get<std::string>();
}

Record shortest_number(Real value) {
  const std::string digits = fmt::format("{}", value);
  double number = double(value);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<FirstDifference> first_difference(const Record& first, const Record& second) {
  const Record differences = Record::diff(first, second);
  if (differences.empty()) return {};
  const Record::json_pointer place(differences[0]["path"].get<std::string>());
  const auto text = [&](const Record& record) {
    return record.contains(place) ? record[place].dump() : "the default";
  };
  return FirstDifference{place.to_string(), place.empty() ? "" : place.back(), text(first),
                         text(second)};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
