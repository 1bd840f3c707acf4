// Checks of what options take.
#include "cli/frame/validators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
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

namespace {
/// The name of a validator of one_of(), in front of its words.
constexpr std::string_view one_of_name = "one_of ";

std::map<const CLI::Option*, std::vector<std::string>>& all_choices() {
  static std::map<const CLI::Option*, std::vector<std::string>> all;
  return all;
}
}  // namespace

void offer(const CLI::Option& option, std::vector<std::string> words) {
  all_choices()[&option] = std::move(words);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const auto found = all_choices().find(&option);
  if (found != all_choices().end()) return found->second;
  try {
    const std::string name = const_cast<CLI::Option&>(option).get_validator(0)->get_name();
    return name.starts_with(one_of_name) ? CLI::detail::split(name.substr(one_of_name.size()), ' ')
                                         : std::vector<std::string>();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string name = fmt::format("{}{}", one_of_name, fmt::join(words, " "));
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("\"{}\" is not one of {}{}", text, fmt::join(words, ", "),
                       did_you_mean(text, words));
  };
  return CLI::Validator(check, "", name);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
