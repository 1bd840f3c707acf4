// The tape: how operations record themselves, and the switches that change what is recorded.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/op_scope.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Where a backward closure puts the gradient of one input. It is a no-op for an input that wants
/// no gradient; ask wanted() first when computing it is expensive.
class GradientSlot {
 public:
  explicit GradientSlot(detail::Node* node) : node_(node) {}
  bool wanted() const { return node_ != nullptr; }

  /// Adds a gradient of the input's shape.
  void operator+=(Array gradient);
  /// Adds a pending elementwise result, such as map() returns, in one pass.
  template <class Pending>
  requires requires(const Pending& p, Array& sum) { p.add_to(sum); }
  void operator+=(const Pending& pending) {
    if (!wanted()) return;
    if (has_sum()) {
      pending.add_to(own_sum());
    } else {
      *this += static_cast<Array>(pending);
    }
  }
  /// The sum itself, zero at first and owned by nobody else, for kernels that add in place.
  /// Call it only when wanted().
  Array& sum();
  /// The sum for kernels that can overwrite or add: `fresh` tells that its numbers are garbage and
  /// all must be written. Call it only when wanted().
  Array& sum(bool& fresh);

 private:
  bool has_sum() const;
  Array& own_sum();
  detail::Node* node_;
};

/// The gradients of an operation's inputs, by position.
class Gradients {
 public:
  explicit Gradients(detail::Node& node) : node_(node) {}
  GradientSlot operator[](std::size_t input) const;

 private:
  detail::Node& node_;
};

/// Turns dL/dy into the inputs' gradients. It captures what it needs as Arrays; never the output
/// Tensor, which would be a cycle.
using Backward = std::function<void(const Array& dy, Gradients& into)>;

/// Computes an operation's output again, to the bit, from what its backward pass keeps anyway.
using Remake = std::function<Array()>;

/// What a backward closure keeps of an input whose numbers it reads. It keeps the numbers, unless
/// the input's operation can make them again: then they are freed after the forward pass. For norms
/// and activations that is much memory for little time. Chen et al. 2016, section 3.
class Saved {
 public:
  explicit Saved(const Tensor& input);
  Array value() const;

 private:
  Array kept_;
  const char* operation_ = nullptr;
  Remake remake_;
};

/// The tensors an operation read; undefined ones stand for absent inputs.
class Inputs {
 public:
  Inputs(std::initializer_list<Tensor> list) : tensors_(list.begin(), list.size()) {}  // NOLINT
  Inputs(const std::vector<Tensor>& list) : tensors_(list) {}                          // NOLINT
  Inputs(std::span<const Tensor> list) : tensors_(list) {}                             // NOLINT
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  std::size_t size() const { return tensors_.size(); }

 private:
  std::span<const Tensor> tensors_;
};

/// Last line of every differentiable operation: makes y a tensor and, when gradients are on and
/// some input wants one, puts the operation on the tape. With `remake`, operations that read y need
/// not keep it.
Tensor record(const OpScope& op, Array y, const Inputs& inputs, Backward backward,
              Remake remake = {});

/// The same for an operation that has no gradient. Throws UsageError when an input is on the tape:
/// a silently severed graph would freeze everything upstream while the loss still falls.
Tensor record_without_gradient(const OpScope& op, Array y, const Inputs& inputs);

/// True when an operation on these inputs would be put on the tape now.
bool wants_tape(const Inputs& inputs);

/// While one lives on this thread, operations record nothing.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

/// While one lives on this thread, every operation's output and every gradient is searched for NaN
/// and infinity, and the first operation that produces one from finite inputs throws NumericError
/// with its name. Slow; training loops turn it on to explain a failed step.
class AnomalyMode {
 public:
  AnomalyMode();
  ~AnomalyMode();
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  bool before_;
};

/// True when no element is NaN or infinite.
bool all_finite(const Array& array);

/// Number of operations on the tape behind a tensor.
Index graph_size(const Tensor& root);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
