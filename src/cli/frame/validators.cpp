// Checks of what options take.
#include "cli/frame/validators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "headroom/base/nearest.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string before_column(const std::string& text, Index column) {
  return padded(text + " ", column);
}

CLI::Validator at_least(Index least, Index most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Index number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) return text + " is too large";
    if (error != std::errc() || rest != end) {
      return fmt::format("\"{}\" is not a whole number", text);
    }
    // CLI11 would read octal.
    if (text != fmt::format("{}", number)) return fmt::format("write {} as {}", text, number);
    return number < least  ? fmt::format("{} is less than {}", text, least)
           : number > most ? fmt::format("{} is more than {}", text, most)
                           : std::string();
  };
  return CLI::Validator(check, "", "at_least");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("\"{}\" is not one of {}{}", text, fmt::join(words, ", "),
                       did_you_mean(text, words));
  };
  return CLI::Validator(check, "", "one_of");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
