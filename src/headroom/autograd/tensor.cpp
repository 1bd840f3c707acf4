// Tensor: the handle.
#include "headroom/autograd/tensor.hpp"

#include <fmt/format.h>

#include "autograd/node.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// "multiply: ", the operation that runs now; empty outside of one.
std::string running_operation() {
  const OpScope* const op = OpScope::current();
  return op == nullptr ? std::string() : fmt::format("{}: ", op->name());
}

}  // namespace

Tensor::Tensor(Array value, bool requires_grad) : body_(std::make_shared<detail::TensorBody>()) {
  if (!value.defined()) {
    throw UsageError(fmt::format(
        "{}a tensor cannot be made of an undefined array, such as grad() before backward()",
        running_operation()));
  }
  body_->value = std::move(value);
  if (requires_grad) set_requires_grad(true);
}

Tensor::Tensor(Real number) : Tensor(Array(Shape{}, {number})) {}

const Array& Tensor::value() const {
  if (!defined()) {
    throw UsageError(fmt::format(
        "{}a tensor is undefined: it was default-constructed, or it is a result that was not asked "
        "for or a parameter that its layer does not have; ask defined() first",
        running_operation()));
  }
  return body_->value;
}

Real Tensor::item() const {
  if (size() != 1)
    throw ShapeError(fmt::format("item: shape {} has {} elements, not 1", shape().text(), size()));
  return value()[0];
}

bool Tensor::requires_grad() const { return defined() && body_->node != nullptr; }

bool Tensor::is_leaf() const { return !requires_grad() || body_->node->leaf(); }

void Tensor::set_requires_grad(bool on) {
  if (!defined()) throw UsageError("set_requires_grad: the tensor is undefined");
  if (!is_leaf())
    throw UsageError(
        "set_requires_grad: only a leaf can be told; take detach() of an interior tensor");
  if (on == requires_grad()) return;
  body_->node = on ? std::make_shared<detail::Node>(shape()) : nullptr;
}

const Array& Tensor::grad() const {
  static const Array none;
  return requires_grad() ? body_->node->grad : none;
}

Array& Tensor::mutable_grad() {
  if (!requires_grad()) throw UsageError("mutable_grad: the tensor does not require a gradient");
  return body_->node->grad;
}

void Tensor::set_grad(Array gradient) {
  if (!(gradient.shape() == shape())) {
    throw ShapeError(fmt::format("set_grad: gradient {} for a value {}", gradient.shape().text(),
                                 shape().text()));
  }
  mutable_grad() = std::move(gradient);
}

bool Tensor::reached_by_backward() const { return requires_grad() && body_->node->reached; }

void Tensor::zero_grad() {
  if (!requires_grad()) return;
  body_->node->grad = {};
  body_->node->reached = false;
  body_->node->unlisted.reset();
}

Tensor& Tensor::retain_grad() {
  if (!requires_grad()) throw UsageError("retain_grad: nothing upstream requires a gradient");
  body_->node->retain = true;
  return *this;
}

void Tensor::on_gradient(GradientHook hook) {
  if (!requires_grad()) throw UsageError("on_gradient: the tensor does not require a gradient");
  body_->node->hooks.push_back(std::move(hook));
}

void Tensor::backward(const Array& cotangent, bool keep_graph) const {
  if (!requires_grad()) {
    throw UsageError(
        "backward: nothing on the tape here; does any input require a gradient, and was NoGrad "
        "off?");
  }
  if (!cotangent.defined() && size() != 1) {
    throw ShapeError(fmt::format(
        "backward: a tensor of shape {} needs a cotangent; only a single number has one by itself",
        shape().text()));
  }
  if (cotangent.defined() && !(cotangent.shape() == shape())) {
    throw ShapeError(fmt::format("backward: cotangent {} for a value {}", cotangent.shape().text(),
                                 shape().text()));
  }
  run_backward(body_->node, cotangent.defined() ? cotangent : ones(shape()), keep_graph);
}

Tensor Tensor::detach() const { return defined() ? Tensor(value()) : Tensor(); }

void Tensor::set_value(Array value, Array gradient) {
  if (!is_leaf()) throw UsageError("set_value: only a leaf's value can be replaced");
  if (!defined()) throw UsageError("set_value: the tensor is undefined");
  body_->value = std::move(value);
  if (body_->node != nullptr) {
    body_->node->shape = shape();
    body_->node->grad = {};
    if (gradient.defined()) set_grad(std::move(gradient));
  }
}

Array& Tensor::edit_value() {
  if (!defined()) throw UsageError("edit_value: the tensor is undefined");
  body_->value.mark_changed();
  return body_->value;
}

Tensor parameter(Array value) {
  Tensor tensor(std::move(value), true);
  TapeAccess::node(tensor)->is_parameter = true;
  return tensor;
}
Tensor constant(Array value) { return Tensor(std::move(value)); }

Tensor TapeAccess::make(Array value, std::shared_ptr<detail::Node> node) {
  Tensor tensor(std::move(value));
  tensor.body_->node = std::move(node);
  return tensor;
}

const std::shared_ptr<detail::Node>& TapeAccess::node(const Tensor& tensor) {
  static const std::shared_ptr<detail::Node> none;
  return tensor.defined() ? tensor.body_->node : none;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
