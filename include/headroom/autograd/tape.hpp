// The tape: how operations record themselves, and the switches that change what is recorded.
//
// Invariants (N is a node of the tape, that is one recorded operation or a leaf that requires a
// gradient; a pass is one call of Tensor::backward()):
//
//  1. Births grow along the tape: an operation is younger than each of its inputs. A pass visits
//     the nodes below its root from the youngest to the oldest, each at most once. Hence the
//     gradient of N is complete when the closure of N runs.
//  2. A closure captures Arrays, never its operation's output Tensor: that would be a cycle, which
//     is never freed.
//  3. A missing gradient is an error: a closure adds to the gradient of every input that requires
//     one (zeros count), or it marks the input with nothing_flows. Otherwise the pass throws
//     UsageError and names operation and input. Additions are judged per node and per closure: one
//     tensor may be several inputs, of which any one suffices, and additions by earlier closures do
//     not count.
//  4. Hence, if a node below the root has no gradient when it is visited, every path to it passes
//     an operation marked nothing_flows. Its closure does not run, so the same holds for nodes that
//     are inputs of this node only. A leaf below the root has Tensor::reached_by_backward() set,
//     whether or not it got a gradient; Optimizer::step() reads that before it throws for a
//     parameter without gradient.
//  5. A gradient is changed in place only in a buffer without other holders. A leaf's gradient is
//     always its own buffer.
//  6. The value of a leaf that an operation read has the same version in the backward pass as in
//     the forward pass; a pass over changed values throws before any closure runs.
//  7. Without keep_graph a closure is freed as soon as it has run, an interior gradient (unless
//     retained) as soon as it was handed to its closure. A pass over a freed node throws before any
//     closure runs.
//  8. When a pass ends by an exception, no interior node keeps a part of a gradient. Leaves keep
//     what they got before.
//  9. Neither walking a tape nor destroying one recurses, so depth is bounded by memory alone.
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

/// A gradient's sum, and whether it holds something that must be kept.
struct WriteOrAdd {
  Array& sum;
  bool add;
};

/// Where a backward closure puts the gradient of one input. It is a no-op for an input that
/// requires no gradient; ask wanted() first when computing it is expensive.
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
  /// The sum itself, zero at first and without other holders, for kernels that add in place. Asking
  /// for it counts as an addition. Call it only when wanted().
  Array& sum();
  /// The sum for kernels that can overwrite or add: with `add` false, its elements are garbage and
  /// the kernel must write all of them. Call it only when wanted().
  /// ```
  /// const auto [dx, add] = into[0].write_or_add();
  /// kernels::softmax_backward(y.data(), dy.data(), rows, columns, add, dx.data());
  /// ```
  WriteOrAdd write_or_add();
  /// Says that the output does not depend on this input, so that adding nothing is no mistake.
  void nothing_flows();

 private:
  bool has_sum() const;
  Array& own_sum();
  detail::Node* node_;
};

/// The gradients of an operation's inputs, by position.
class Gradients {
 public:
  explicit Gradients(detail::Node& node) : node_(node) {}
  /// The number of inputs of the operation.
  std::size_t size() const;
  /// Throws UsageError for an input that the operation does not have.
  GradientSlot operator[](std::size_t input) const;

 private:
  detail::Node& node_;
};

/// Turns dL/dy into the inputs' gradients. It captures what it needs as Arrays; never the output
/// Tensor, which would be a cycle.
using Backward = std::function<void(const Array& dy, Gradients& into)>;

/// The closure of an operation whose output does not depend on its inputs, such as attention
/// without heads: `record(op, y, {x}, nothing_flows)`. Parameters that feed only such
/// operations get no gradient, and Optimizer::step() does not throw for them.
void nothing_flows(const Array& dy, Gradients& into);

/// Computes an operation's output again, to the bit, from what its backward pass keeps anyway.
using Remake = std::function<Array()>;

/// An input whose numbers a backward closure reads. It keeps the numbers, unless the input's
/// operation can make them again: then they are freed after the forward pass. For norms and
/// activations that saves much memory for little time. Chen et al. 2016, section 3.
class Saved {
 public:
  explicit Saved(const Tensor& input);
  /// The value, which is computed again if it was not kept.
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
/// some input requires one, puts the operation on the tape. With `remake`, operations that read y
/// need not keep it. Throws UsageError without a closure.
Tensor record(const OpScope& op, Array y, const Inputs& inputs, Backward backward,
              Remake remake = {});

/// The same for an operation that has no gradient. Throws UsageError when an input is on the tape:
/// otherwise the parameters before it would never change, although the loss still falls.
Tensor record_without_gradient(const OpScope& op, Array y, const Inputs& inputs);

/// True when an operation on these inputs would be put on the tape now.
bool wants_tape(const Inputs& inputs);

/// While one exists on this thread, operations record nothing.
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

/// While one exists on this thread, every operation's output and every gradient is searched for NaN
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
