// A tape for single numbers: the idea of the library's tape (headroom/autograd/tape.hpp) on one
// screen, with the same names. Its operations and its backward pass are the exercises 01/1 to 01/3.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace scalar {

struct Node;
using Inputs = std::vector<std::shared_ptr<Node>>;

/// The gradients of an operation's inputs: into[0] is that of the first one.
class Gradients {
 public:
  explicit Gradients(const Inputs& inputs) : inputs_(inputs) {}
  Real& operator[](std::size_t input) const;

 private:
  const Inputs& inputs_;
};

/// Gets dy = dL/dy, and adds to `into` the gradients of the inputs.
using Backward = std::function<void(Real dy, const Gradients& into)>;

/// A number that a program computed, and where it came from.
struct Node {
  Index number = 0;   // counts the nodes: an operation has a larger one than its inputs
  Real value = 0;     // the result
  Inputs inputs;      // what the operation read; none for a leaf
  Backward backward;  // empty for a leaf
  Real gradient = 0;  // dL/d(value), after a backward pass
};

inline Real& Gradients::operator[](std::size_t input) const {
  if (input >= inputs_.size()) throw UsageError("into[]: the operation does not have this input");
  return inputs_[input]->gradient;
}

inline Index nodes_so_far = 0;

/// A handle of a node. Copies share it.
class Value {
 public:
  /// A leaf: a number that comes from outside.
  Value(Real number)  // NOLINT: implicit, so that 2 * x works
      : node_(std::make_shared<Node>(Node{nodes_so_far++, number, {}, {}, 0})) {}

  Real value() const { return node_->value; }
  Real grad() const { return node_->gradient; }
  const std::shared_ptr<Node>& node() const { return node_; }
  /// Computes dL/dx for every x below this value, the loss L.
  void backward() const;

 private:
  std::shared_ptr<Node> node_;
};

/// Last line of every operation: puts it on the tape.
inline Value record(Real y, const std::vector<Value>& inputs, Backward backward) {
  Value result(y);
  for (const Value& input : inputs) result.node()->inputs.push_back(input.node());
  result.node()->backward = std::move(backward);
  return result;
}

inline Value operator+(const Value& a, const Value& b) {
  return record(a.value() + b.value(), {a, b}, [](Real dy, const Gradients& into) {
    into[0] += dy;
    into[1] += dy;
  });
}

// The exercises.
Value operator*(const Value& a, const Value& b);
Value tanh(const Value& x);
std::vector<Node*> backward_order(Node* root);
void backward(const std::vector<Node*>& order);

inline void Value::backward() const { scalar::backward(backward_order(node_.get())); }

}  // namespace scalar
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
