// Tensors as text.
#include "headroom/autograd/print.hpp"

#include <fmt/format.h>

#include "autograd/node.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string origin_of(const detail::Node* node) {
  if (node == nullptr) return {};
  if (!node->leaf()) return fmt::format(", a result of '{}'", node->operation);
  return node->is_parameter ? ", a parameter" : ", a leaf with gradient";
}

}  // namespace

std::string text(const Tensor& tensor) {
  if (!tensor.defined()) return "Tensor, undefined";
  return fmt::format("Tensor {}{}\n{}", tensor.shape().text(),
                     origin_of(TapeAccess::node(tensor).get()), elements_text(tensor.value()));
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << text(tensor); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
