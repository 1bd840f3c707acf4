// JSON from outside, parsed as untrusted input. Errors are one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The most keys that an object has, unless more are expected: a vocabulary has one for each token.
constexpr std::size_t usual_keys = 10'000;
constexpr std::size_t keys_of_vocabulary = 1'000'000;

/// Reads a JSON text. `origin` names it in errors: a file, or a file and an entry of it. Throws
/// FileError for malformed JSON, a key that occurs twice in an object, more than `most_keys` keys
/// in an object and nesting deeper than 32. Where more keys than usual are expected, those of all
/// objects come in byte order.
Record parse_json(std::string_view text, const std::string& origin,
                  std::size_t most_keys = usual_keys);

/// Typed access to the members of a record that parse_json() read. Throw FileError naming `origin`
/// and `key` when the member is missing or of another kind: integers are integers (no 3.0) and fit
/// into 64 bits.
Index json_integer(const Record& record, const char* key, const std::string& origin);
double json_number(const Record& record, const char* key, const std::string& origin);
std::string json_text(const Record& record, const char* key, const std::string& origin);

/// The number with the fewest digits that reads back as this one: 1e-05 for the float nearest to
/// it, whose digits are 9.999999747378752e-06.
Record shortest_number(Real value);

/// The first place in which two records differ.
struct FirstDifference {
  std::string place, key;     // "/training/clip", "clip"
  std::string first, second;  // the values there as JSON, or "the default" where there is none
};
std::optional<FirstDifference> first_difference(const Record& first, const Record& second);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
