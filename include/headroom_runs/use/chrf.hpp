// chrF: how much of the characters of an output is in a reference.
#pragma once

#include <array>
#include <string_view>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Numbers of character n-grams for n = 1..6: of an output, of its reference, and those in both.
/// The counts of several outputs can be added.
struct ChrfCounts {
  static constexpr std::size_t orders = 6;
  std::array<double, orders> output{}, reference{}, matches{};
};

/// Counts without spaces. Throws DataError for malformed UTF-8.
ChrfCounts chrf_counts(std::string_view output, std::string_view reference);

/// The F-score of the mean precision P and recall R over the orders that both texts have,
/// 5 P R / (4 P + R) (beta = 2), in [0, 1]; 0 without an order. Popovic 2015, "chrF: character
/// n-gram F-score for automatic MT evaluation".
double chrf(const ChrfCounts& counts);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
