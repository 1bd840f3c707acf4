// Checks of what options take, with readable errors.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Column in which help describes an option, a task or a layout.
inline constexpr Index help_column = 28;
/// A name or number in front of the next column, at least one space away from it.
std::string before_column(const std::string& text, Index column);

/// The largest seed.
inline constexpr Index any_seed = std::numeric_limits<Index>::max();
/// A decimal whole number from `least` to `most`, without leading zeros.
CLI::Validator at_least(Index least, Index most = 1'000'000);
/// Completion offers these words for an option whose values are checked elsewhere.
void offer(const CLI::Option& option, std::vector<std::string> words);
/// The words that an option offers or that its one_of() takes; none if it takes any.
std::vector<std::string> choices_of(const CLI::Option& option);

/// One of the given words; the error lists them and names the nearest.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
