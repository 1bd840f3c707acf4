// Sums over rows, for the backward passes of layer norm and RMS norm; the same for any number of
// threads.
#pragma once

#include <algorithm>

#include "headroom/array/array.hpp"
#include "headroom/base/parallel.hpp"
#include "kernels/layer_norm.hpp"
#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// `weight`, or ones where a norm has none: a choice inside a loop would keep it from using SIMD.
class WeightOrOnes {
 public:
  WeightOrOnes(const Real* weight, Index columns) : weight_(weight) {
    if (weight_ == nullptr) ones_ = Array(Shape{columns}, Real(1));
  }
  const Real* data() const { return weight_ != nullptr ? weight_ : ones_.data(); }

 private:
  const Real* weight_;
  Array ones_;
};

/// Calls row(r, dweight, dbias) for every row, in parallel. It adds the row's share to both sums,
/// which belong to its chunk of rows (nullptr when not wanted); the chunks' sums are then combined
/// in order. At most 64 chunks, cut by shape only.
template <class Row>
void for_rows_summing(Index rows, Index columns, const NormGradients& into, const Row& row) {
  const Index grain = std::max(grain_for(columns), (rows + 63) / 64);
  const Index chunks = (rows + grain - 1) / grain;
  const bool sums_wanted = into.dweight != nullptr || into.dbias != nullptr;
  Array partial;  // [chunks, 2, columns]
  if (sums_wanted) partial = Array(Shape{chunks, 2, columns}, Real(0));
  parallel_for(rows, grain, [&](Index begin, Index end) {
    Real* const sums = sums_wanted ? partial.data() + begin / grain * 2 * columns : nullptr;
    Real* const dweight = into.dweight != nullptr ? sums : nullptr;
    Real* const dbias = into.dbias != nullptr ? sums + columns : nullptr;
    for (Index r = begin; r < end; ++r) row(r, dweight, dbias);
  });
  const auto combine = [&](Index which, bool add, Real* target) {
    if (target == nullptr) return;
    if (!add) std::fill_n(target, columns, Real(0));
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const Real* const part = partial.data() + (2 * chunk + which) * columns;
#pragma omp simd
      for (Index c = 0; c < columns; ++c) target[c] += part[c];
    }
  };
  combine(0, into.add_weight, into.dweight);
  combine(1, into.add_bias, into.dbias);
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
