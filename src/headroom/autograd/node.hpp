// The tape's node and the tensor's body. Private to the autograd floor.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

/// One operation's output, or a leaf that wants a gradient.
struct Node {
  explicit Node(const Shape& output_shape);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Frees the closure and the arrays that it saved.
  void free();
  bool leaf() const { return operation == nullptr; }
  /// Where contributions of the running backward pass are summed. A leaf without hooks needs no sum
  /// of its own: they go straight into `grad`.
  Array& sum() { return leaf() && hooks.empty() ? grad : incoming; }

  std::uint64_t birth;  // operations later on the tape have larger numbers
  Shape shape;
  const char* operation = nullptr;            // nullptr: a leaf
  std::vector<std::shared_ptr<Node>> inputs;  // nullptr for inputs that want no gradient
  std::vector<std::pair<Array, std::uint32_t>> saved_leaves;  // leaf values with their versions
  Backward backward;
  Remake remake;   // empty when operations that read the output have to keep it
  Array incoming;  // dL/d(output) while a backward pass runs
  Array grad;      // what the user sees
  std::vector<GradientHook> hooks;
  bool retain = false;
  bool freed = false;
  bool served = false;   // the closure that runs now added to the sum, or said that nothing flows
  bool reached = false;  // a backward pass met this node since zero_grad()

  // Of leaves: see listing.hpp.
  bool is_parameter = false;     // made by parameter()
  bool listed = false;           // a module's members() has named it
  std::weak_ptr<Node> unlisted;  // one that no members() had named when a pass met both
  const char* reader = nullptr;  // of an unlisted leaf: an operation that reads it
};

struct TensorBody {
  Array value;                 // first: src/headroom-gdb.py reads it there
  std::shared_ptr<Node> node;  // nullptr: wants no gradient
};

}  // namespace detail

/// The floor's own door into Tensor.
struct TapeAccess {
  static Tensor make(Array value, std::shared_ptr<detail::Node> node);
  static const std::shared_ptr<detail::Node>& node(const Tensor& tensor);
};

/// Runs the tape below `root` backward; see Tensor::backward.
void run_backward(const std::shared_ptr<detail::Node>& root, Array cotangent, bool keep_graph);

/// Throws NumericError naming the operation when AnomalyMode is on and `array` is not finite.
void check_anomaly(const char* operation, const char* what, const Array& array);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
