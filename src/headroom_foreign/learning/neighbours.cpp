// Nearest neighbours by two sets of embeddings.
#include "learning/neighbours.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "headroom/algebra/algebra.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The `compared` texts that are nearest to a text, by its row of cosines with more of them.
std::set<Index> nearest(const Real* cosines, Index texts, Index own) {
  std::vector<Index> others;
  for (Index i = 0; i < texts; ++i) {
    if (i != own) others.push_back(i);
  }
  const auto end = others.begin() + Neighbours::compared;
  std::partial_sort(others.begin(), end, others.end(),
                    [&](Index a, Index b) { return cosines[a] > cosines[b]; });
  return {others.begin(), end};
}

}  // namespace

void Neighbours::add(const Array& former, const Array& present) {
  former_.push_back(former);
  present_.push_back(present);
}

std::optional<double> Neighbours::kept() const {
  if (former_.empty()) return std::nullopt;
  const Array former = transposed(concat(former_, 0)), present = transposed(concat(present_, 0));
  const Index texts = former.dim(1);
  if (texts - 1 <= compared) return std::nullopt;
  Index kept = 0, all = 0, text = 0;
  for (std::size_t batch = 0; batch < former_.size(); ++batch) {
    const Array before = matmul(former_[batch], former), after = matmul(present_[batch], present);
    for (Index row = 0; row < before.dim(0); ++row, ++text) {
      const std::set<Index> then = nearest(before.data() + row * texts, texts, text),
                            now = nearest(after.data() + row * texts, texts, text);
      all += std::ssize(then);
      kept += std::count_if(then.begin(), then.end(), [&](Index i) { return now.contains(i); });
    }
  }
  return double(kept) / double(all);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
