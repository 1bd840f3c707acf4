// The parameters of one head, cut out of its layer's.
#include "headroom/nn/head_share.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::span<const Index> HeadSlice::owners() const {
  if (head == of_group) return group;
  return {&head, std::size_t(head >= 0 ? 1 : 0)};
}

bool HeadSlice::belongs_to(Index one) const {
  return std::ranges::find(owners(), one) != owners().end();
}

bool HeadSlice::leaves_with(std::span<const Index> heads) const {
  return !owners().empty() && std::ranges::all_of(owners(), [&](Index owner) {
    return std::ranges::find(heads, owner) != heads.end();
  });
}

std::string HeadSlice::owner_text() const {
  if (head == of_all) return "all heads";
  if (owners().empty()) return "no head";
  return fmt::format("head{} {}", owners().size() == 1 ? "" : "s", fmt::join(owners(), ", "));
}

HeadShare share_of(const NamedAttention& attention, Index head) {
  HeadShare share{attention.id(head), {}, {}};
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(*attention.attention)) tensors[name] = tensor;
  for (const HeadSlice& part : attention.attention->head_slices()) {
    if (!part.belongs_to(head)) continue;
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
