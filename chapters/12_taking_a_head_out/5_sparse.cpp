//! title: find the mistake: sparsity 50 %
//! minutes: 10
//! difficulty: 1
//! needs: 12/3
//! mistake: only the gradients of pruned weights were masked
//! hint: After the pruning, what can still move a weight whose gradient is 0? And what does
//!   sparsity() look at to report 50 %?
//! hint: The momentum of a pruned weight is a mean of gradients from before the pruning. The mask
//!   says which weights should be 0, the weights say which are.
//! hint: v = (0.9 v + g) mask, then p -= rate v. In sparsity(), count the elements of the weight
//!   that are 0.
//! after: The mask of the gradients is right for SGD without momentum only. Weight decay and a
//!   loaded checkpoint are other ways to lose zeros, so count them in the weights that you report.
// Exercise 12/5: a matrix whose smallest weights are pruned.
#include "5_sparse.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void prune(SparseWeight& weight, double share) {
  Array& value = weight.weight.edit_value();
  std::vector<Index> order;
  for (Index i = 0; i < value.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return std::abs(value[a]) < std::abs(value[b]); });
  order.resize(std::size_t(share * double(value.size())));
  for (const Index i : order) weight.mask[i] = value[i] = 0;
}

void step(SparseWeight& weight, Real rate) {
  const Array gradient = weight.weight.grad();
  Array& value = weight.weight.edit_value();
  for (Index i = 0; i < value.size(); ++i) {
    Real& v = weight.momentum[i];
    //! solution
    v = (Real(0.9) * v + gradient[i]) * weight.mask[i];
    value[i] -= rate * v;
    //! skeleton
    // v = Real(0.9) * v + gradient[i] * weight.mask[i];
    // value[i] -= rate * v;
    //! mistake forgets_momentum: the kept weights lost their momentum: the pruning must not slow
    //!   them down
    //  for (const Index i : order) weight.mask[i] = value[i] = 0;
    //+ weight.momentum = Array(weight.momentum.shape(), 0);
    //! mistake only_the_count: only the gradients of pruned weights were masked: their momentum is
    //!   from before the pruning, and still moves them
    // v = Real(0.9) * v + gradient[i] * weight.mask[i];
    // value[i] -= rate * v;
    //! mistake zeros_stay: weights that are 0 were taken for pruned ones: a kept weight may be 0
    //!   and must move. The mask says which weights are pruned
    // v = Real(0.9) * v + gradient[i];
    // if (value[i] != 0) value[i] -= rate * v;
    //! mistake mask_first: the mask was applied before the update: the update then moves the pruned
    //!   weights again
    // v = Real(0.9) * v + gradient[i];
    // value[i] = value[i] * weight.mask[i] - rate * v;
    //! end
  }
}

double sparsity(const SparseWeight& weight) {
  const Array& values = weight.weight.value();
  Index zeros = 0;
  //! solution
  for (Index i = 0; i < values.size(); ++i) zeros += values[i] == 0;
  //! skeleton
  // for (Index i = 0; i < values.size(); ++i) zeros += weight.mask[i] == 0;
  //! mistake only_the_step: the zeros of the mask were counted: it says which weights should be 0,
  //!   not which are
  // for (Index i = 0; i < values.size(); ++i) zeros += weight.mask[i] == 0;
  //! mistake nearly_zero: small weights were counted as zeros: they still are weights, and training
  //!   may need them
  // for (Index i = 0; i < values.size(); ++i) zeros += std::abs(values[i]) < Real(1e-3);
  //! end
  return double(zeros) / double(values.size());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
