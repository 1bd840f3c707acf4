// Saturation of a softmax.
#include "lab/saturation.hpp"

#include <algorithm>
#include <span>

namespace headroom {
inline namespace HEADROOM_PRECISION {

Saturation saturation_of(const Array& weights) {
  Saturation result;
  const auto keys = std::size_t(weights.dim(-1));
  const std::span<const Real> all = weights.span();
  for (std::size_t begin = 0; begin < all.size(); begin += keys) {
    const auto row = all.subspan(begin, keys);
    const auto ones = std::count(row.begin(), row.end(), Real(1));
    const auto zeros = std::count(row.begin(), row.end(), Real(0));
    result.complete = result.complete && ones == 1;
    result.one_hot = result.one_hot && ones == 1 && zeros + 1 == std::ssize(row);
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
