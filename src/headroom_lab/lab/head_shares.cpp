// The parameters of a layer head by head: copied, written, compared.
#include "lab/head_shares.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/extremes.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(slice, its parameter) for every slice that belongs to one head.
template <class Visit>
void for_each_slice(Attention& layer, Visit visit) {
  for (const HeadSlice& part : layer.head_slices()) {
    if (part.head >= 0) visit(part, parameter_named(layer, part.name));
  }
}

}  // namespace

HeadShares shares_of(Attention& layer) {
  HeadShares shares;
  for (const Index head : layer.alive()) shares.push_back(share_of({"", &layer}, head));
  return shares;
}

void set_values(Attention& layer, const HeadShare& share) {
  for_each_slice(layer, [&](const HeadSlice& part, Tensor tensor) {
    const auto found = share.value.find(part.part());
    if (part.head != share.head.head || found == share.value.end()) return;
    const Real* from = found->second.data();
    Array& values = tensor.edit_value();
    for_each_run(values.shape(), part, [&](Index first, Index count) {
      std::copy_n(from, count, values.data() + first);
      from += count;
    });
  });
}

void set_to_zero(Attention& layer, HeadRole role) {
  for (HeadShare share : shares_of(layer)) {
    std::erase_if(share.value, [&](const auto& part) { return part.first.role != role; });
    for (auto& [part, values] : share.value) values = zeros(values.shape());
    set_values(layer, share);
  }
}

void scale_gradient(Attention& layer, Index head, Real factor) {
  for_each_slice(layer, [&](const HeadSlice& part, Tensor tensor) {
    if (part.head != head || !tensor.grad().defined()) return;
    Array gradient = tensor.grad().clone();
    for_each_run(gradient.shape(), part, [&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i) gradient[i] *= factor;
    });
    tensor.set_grad(gradient);
  });
}

double norm(const HeadArrays& parts) {
  double squares = 0;
  for (const auto& [part, array] : parts) squares += inner(array, array);
  return std::sqrt(squares);
}

double largest_difference(const HeadArrays& a, const HeadArrays& b) {
  double most = 0;
  for (const auto& [part, array] : a) most = larger(most, largest_difference(array, b.at(part)));
  return most;
}

HeadShares change(const HeadShares& before, const HeadShares& after) {
  HeadShares result = before;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (auto& [part, was] : result[i].value) {
      was = (Tensor(after[i].value.at(part)) - Tensor(was)).value();
    }
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
