// The parameters of one head, cut out of its layer's.
#include "headroom/heads/head_share.hpp"

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
    share.value[part.role] = slice(tensor.value(), part).clone();
    if (tensor.grad().defined()) share.gradient[part.role] = slice(tensor.grad(), part).clone();
  }
  if (share.value.empty()) {
    throw UsageError(fmt::format("share_of: {} is not alive", share.head.text()));
  }
  return share;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
