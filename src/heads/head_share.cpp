// The parameters of one head, cut out of its layer's.
#include "headroom/heads/head_share.hpp"

#include <fmt/format.h>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadShare share_of(const NamedAttention& attention, Index head) {
  HeadShare share{attention.id(head), {}};
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(*attention.attention)) tensors[name] = tensor;
  for (const HeadSlice& part : attention.attention->head_slices()) {
    if (part.head != head) continue;
    share.value[part.role] = slice(tensors.at(part.name).value(), part);
  }
  if (share.value.empty()) {
    throw UsageError(fmt::format("share_of: {} is not alive", share.head.text()));
  }
  return share;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
