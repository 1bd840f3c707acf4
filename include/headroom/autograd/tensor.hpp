// Tensor: a value and, if an input of it requires a gradient, its node on the tape.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace detail {
struct Node;
struct TensorBody;
}  // namespace detail

/// Receives (and may change) a complete gradient before it is propagated further.
using GradientHook = std::function<void(Array& gradient)>;

/// A handle: copies share value and gradient. A Tensor made by the user is a *leaf*; one made by an
/// operation is *interior*: its node on the tape computes the gradients of its inputs from its own.
class Tensor {
 public:
  /// Undefined: means "none", for example the bias of a Linear without one. It has neither value
  /// nor shape: asking for them throws.
  Tensor() = default;
  /// A leaf. With requires_grad, backward() leaves dL/dx in grad(). Throws UsageError for an
  /// undefined array.
  explicit Tensor(Array value, bool requires_grad = false);
  /// A leaf of rank 0.
  explicit Tensor(Real number);

  bool defined() const { return body_ != nullptr; }
  /// Throws UsageError naming the running operation when the tensor is undefined; so do shape(),
  /// rank(), dim(), size() and item().
  const Array& value() const;
  const Shape& shape() const { return value().shape(); }
  int rank() const { return value().rank(); }
  Index dim(int axis) const { return value().dim(axis); }
  Index size() const { return value().size(); }
  /// The number in a tensor of one element. Throws ShapeError for any other size.
  Real item() const;

  /// True when a gradient by this tensor can be asked for.
  bool requires_grad() const;
  bool is_leaf() const;
  /// Leaves only; throws UsageError on an interior tensor.
  void set_requires_grad(bool on);
  /// dL/d(this) after backward(); undefined before (ask defined()), and for interior tensors
  /// without retain_grad().
  const Array& grad() const;
  /// The same, to change it in place (clipping does).
  Array& mutable_grad();
  void set_grad(Array gradient);
  /// Returns true for a leaf that a backward pass reached since the last zero_grad(). If grad() is
  /// undefined all the same, only operations through which nothing flows lead to it (see tape.hpp,
  /// 4).
  bool reached_by_backward() const;
  /// Drops the gradient; the next backward() starts from zero.
  void zero_grad();
  /// Makes an interior tensor keep its gradient. Returns itself.
  Tensor& retain_grad();
  /// Calls `hook` whenever a backward pass has completed this tensor's gradient. On a leaf it
  /// receives the contribution of that pass. Throws UsageError without requires_grad.
  void on_gradient(GradientHook hook);

  /// Backpropagates from this tensor: adds dL/dleaf to every leaf that requires a gradient.
  /// `cotangent` is dL/d(this); it may be left out for a single number, where it is 1. The tape is
  /// freed on the way unless keep_graph. Throws UsageError when there is no tape, when it was
  /// freed, or when an operation adds nothing to the gradient of an input that requires one;
  /// ShapeError when the cotangent does not fit.
  void backward(const Array& cotangent = {}, bool keep_graph = false) const;

  /// The same value, off the tape.
  Tensor detach() const;
  /// Replaces a leaf's value, possibly by one of another shape, and drops its gradient unless one
  /// of the new shape is given. All copies of the handle share it. Used by pruning and by loading.
  void set_value(Array value, Array gradient = {});
  /// The value, to change it in place. A backward pass through an operation that still needs the
  /// old values throws instead of computing a wrong gradient.
  Array& edit_value();

  /// True when both handles are the same tensor.
  bool same(const Tensor& other) const { return body_ == other.body_; }

 private:
  friend struct detail::Node;
  friend struct TapeAccess;
  std::shared_ptr<detail::TensorBody> body_;
};

/// A leaf that requires a gradient and is trained: the members() of a module lists it. An optimizer
/// throws for one that no module lists although it is part of the loss (Optimizer::step). Other
/// leaves that require a gradient, such as gates, are made by Tensor(value, true).
Tensor parameter(Array value);
/// A leaf that does not.
Tensor constant(Array value);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
