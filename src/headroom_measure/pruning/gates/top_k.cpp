// The hard choice of the k largest values.
#include "pruning/gates/top_k.hpp"

#include <algorithm>
#include <numeric>

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<double> top_k(std::span<const double> values, Index k) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<double> chosen(values.size(), 0);
  for (std::size_t i = 0; i < order.size() && Index(i) < k; ++i) chosen[order[i]] = 1;
  return chosen;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
