// The nearest known word.
#include "headroom/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  Index best_distance = (std::ssize(word) + 2) / 3 + 1;
  for (const std::string& candidate : known) {
    const Index distance = edit_distance(std::span<const char>(word.data(), word.size()),
                                         std::span<const char>(candidate));
    const bool swapped = !best.empty() && distance == best_distance &&
                         std::ranges::is_permutation(candidate, word) &&
                         !std::ranges::is_permutation(best, word);
    if (distance < best_distance || swapped) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string best = nearest(word, known);
  return best.empty() ? "" : fmt::format(" (did you mean {}?)", best);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
