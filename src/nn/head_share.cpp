// The parameters of one head, cut out of its layer's.
#include "headroom/nn/head_share.hpp"

#include <fmt/format.h>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadShare share_of(const NamedAttention& attention, Index head) {
  HeadShare share{attention.id(head), {}, {}};
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(*attention.attention)) tensors[name] = tensor;
  for (const HeadSlice& part : attention.attention->head_slices()) {
    if (part.head != head) continue;
    const Tensor& tensor = tensors.at(part.name);
    share.value[part.part()] = slice(tensor.value(), part);
    if (tensor.grad().defined()) share.gradient[part.part()] = slice(tensor.grad(), part);
  }
  if (share.value.empty()) {
    throw UsageError(fmt::format("share_of: {} is not alive", share.head.text()));
  }
  return share;
}

double scaling_gradient(const HeadShare& share, HeadRole role) {
  const auto gradient = share.gradient.find(role);
  if (gradient == share.gradient.end()) return 0;
  const Array& value = share.value.at(role);
  double sum = 0;
  for (Index i = 0; i < value.size(); ++i) {
    sum += double(value[i]) * double(gradient->second[i]);
  }
  return sum;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
