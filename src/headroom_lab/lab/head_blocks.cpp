// The parameters of a layer head by head, through head_slices().
#include "lab/head_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "headroom/base/extremes.hpp"
#include "headroom/optim/parameter_blocks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(slice, its parameter) for every slice that belongs to one head.
template <class Visit>
void for_each_slice(Attention& layer, Visit visit) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(layer)) tensors[name] = tensor;
  for (const HeadSlice& slice : layer.head_slices()) {
    if (slice.head >= 0) visit(slice, tensors.at(slice.name));
  }
}

}  // namespace

HeadBlocks head_values(Attention& layer) {
  HeadBlocks blocks;
  for_each_slice(layer, [&](const HeadSlice& slice, const Tensor& tensor) {
    blocks[{slice.role, slice.head}] = part_of(tensor.value(), slice.axis, slice.begin, slice.end);
  });
  return blocks;
}

HeadBlocks head_gradients(Attention& layer) {
  HeadBlocks blocks;
  for_each_slice(layer, [&](const HeadSlice& slice, const Tensor& tensor) {
    const Array gradient = tensor.grad().defined() ? tensor.grad() : zeros(tensor.shape());
    blocks[{slice.role, slice.head}] = part_of(gradient, slice.axis, slice.begin, slice.end);
  });
  return blocks;
}

void set_head_values(Attention& layer, const HeadBlocks& blocks) {
  for_each_slice(layer, [&](const HeadSlice& slice, Tensor tensor) {
    const auto found = blocks.find({slice.role, slice.head});
    if (found == blocks.end()) return;
    const Real* from = found->second.data();
    Array& values = tensor.edit_value();
    for_each_run(values.shape(), slice, [&](Index first, Index count) {
      std::copy_n(from, count, values.data() + first);
      from += count;
    });
  });
}

void set_to_zero(Attention& layer, HeadRole role) {
  for_each_slice(layer, [&](const HeadSlice& slice, Tensor tensor) {
    if (slice.role != role) return;
    Array& values = tensor.edit_value();
    for_each_run(values.shape(), slice, [&](Index first, Index count) {
      std::fill_n(values.data() + first, count, Real(0));
    });
  });
}

void scale_gradient(Attention& layer, Index head, Real factor) {
  for_each_slice(layer, [&](const HeadSlice& slice, Tensor tensor) {
    if (slice.head != head || !tensor.grad().defined()) return;
    Array gradient = tensor.grad().clone();
    for_each_run(gradient.shape(), slice, [&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i) gradient[i] *= factor;
    });
    tensor.set_grad(gradient);
  });
}

HeadBlocks change(const HeadBlocks& before, const HeadBlocks& after) {
  HeadBlocks result;
  for (const auto& [place, was] : before) {
    const Array& is = after.at(place);
    Array& moved = result[place] = Array(was.shape());
    for (Index i = 0; i < was.size(); ++i) moved[i] = is[i] - was[i];
  }
  return result;
}

double norm_of_head(const HeadBlocks& blocks, Index head) {
  double squares = 0;
  for (const auto& [place, block] : blocks) {
    if (place.second == head) squares += inner(block, block);
  }
  return std::sqrt(squares);
}

double largest_difference(const HeadBlocks& a, const HeadBlocks& b, Index head) {
  double most = 0;
  for (const auto& [place, block] : a) {
    if (place.second == head) most = larger(most, largest_difference(block, b.at(place)));
  }
  return most;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
