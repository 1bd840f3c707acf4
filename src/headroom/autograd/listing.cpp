// Listed parameters.
#include "headroom/autograd/listing.hpp"

#include <fmt/format.h>

#include "autograd/node.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void set_listed(const Tensor& leaf) {
  const auto& node = TapeAccess::node(leaf);
  if (node != nullptr && !node->listed) node->listed = true;
}

std::string unlisted_beside(const Tensor& leaf) {
  const auto& node = TapeAccess::node(leaf);
  const auto other = node == nullptr ? nullptr : node->unlisted.lock();
  if (other == nullptr || other->listed) return {};
  return fmt::format("a parameter of shape {} that '{}' reads", other->shape.text(),
                     other->reader == nullptr ? "backward" : other->reader);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
