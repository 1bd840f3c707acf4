// The tape: recording an operation, walking it backward, freeing it without recursion.
#include "headroom/autograd/tape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "autograd/node.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using detail::Node;

namespace {
thread_local bool recording = true;
thread_local bool anomaly = false;
thread_local std::uint64_t births = 0;

void add_in_place(Array& sum, const Array& more) {
  Real* const s = sum.data();
  const Real* const m = more.data();
  parallel_for(sum.size(), 16384, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) s[i] += m[i];
  });
}
}  // namespace

// ---------------------------------------------------------------- nodes

Node::Node(const Shape& output_shape) : birth(++births), shape(output_shape) {}

// A chain of 20,000 nodes must not be destroyed by 20,000 nested calls: what only this node held is
// taken apart from a list.
Node::~Node() {
  std::vector<std::shared_ptr<Node>> doomed = std::move(inputs);
  while (!doomed.empty()) {
    const std::shared_ptr<Node> node = std::move(doomed.back());
    doomed.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    for (auto& input : node->inputs) doomed.push_back(std::move(input));
    node->inputs.clear();
  }
}

void Node::free() {
  backward = nullptr;
  remake = nullptr;
  saved_leaves.clear();
  freed = true;
}

// ---------------------------------------------------------------- gradients of inputs

std::size_t Gradients::size() const { return node_.inputs.size(); }

GradientSlot Gradients::operator[](std::size_t input) const {
  if (input >= size()) {
    throw UsageError(fmt::format("backward: '{}' asks for the gradient of input {}; the last is {}",
                                 node_.operation, input, size() - 1));
  }
  return GradientSlot(node_.inputs[input].get());
}

void nothing_flows(const Array&, Gradients& into) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i].nothing_flows();
}

bool GradientSlot::has_sum() const { return node_->sum().defined(); }

void GradientSlot::nothing_flows() {
  if (wanted()) node_->served = true;
}

// In place only into a buffer that nobody else holds: y = a + a hands the same dy to both inputs.
Array& GradientSlot::own_sum() {
  node_->served = true;
  Array& sum = node_->sum();
  if (sum.shared()) sum = sum.clone();
  return sum;
}

void GradientSlot::operator+=(Array gradient) {
  if (!wanted()) return;
  if (!(gradient.shape() == node_->shape)) {
    throw ShapeError(fmt::format("backward: gradient {} for an input of shape {}",
                                 gradient.shape().text(), node_->shape.text()));
  }
  if (has_sum()) {
    add_in_place(own_sum(), gradient);
  } else {
    node_->served = true;
    // A leaf's gradient is always its own, or clipping would scale a shared one twice.
    node_->sum() = node_->leaf() && gradient.shared() ? gradient.clone() : std::move(gradient);
  }
}

Array& GradientSlot::sum() {
  const auto [result, add] = write_or_add();
  if (!add) std::fill_n(result.data(), result.size(), Real(0));
  return result;
}

WriteOrAdd GradientSlot::write_or_add() {
  const bool add = has_sum();
  if (!add) node_->sum() = Array(node_->shape);
  return {own_sum(), add};
}

// ---------------------------------------------------------------- recording

bool wants_tape(const Inputs& inputs) {
  return recording && std::any_of(inputs.begin(), inputs.end(),
                                  [](const Tensor& t) { return t.requires_grad(); });
}

namespace {

double bytes_of(const Shape& shape) { return double(shape.size()) * double(sizeof(Real)); }

/// Counts the bytes that an operation reads (its inputs) and writes (its output).
void count_bytes(const OpScope& op, const Array& y, const Inputs& inputs) {
  if (!profiling()) return;
  double bytes = bytes_of(y.shape());
  for (const Tensor& input : inputs) {
    if (input.defined()) bytes += bytes_of(input.shape());
  }
  op.work(0, bytes);
}

/// The same for its backward pass, which reads dy and the inputs and writes the inputs' gradients.
void count_bytes(const OpScope& op, const Node& node) {
  if (!profiling()) return;
  double bytes = bytes_of(node.shape);
  for (const auto& input : node.inputs) {
    if (input != nullptr) bytes += 2 * bytes_of(input->shape);
  }
  op.work(0, bytes);
}

}  // namespace

Saved::Saved(const Tensor& input) {
  const auto& node = TapeAccess::node(input);
  if (node != nullptr && node->remake) {
    operation_ = node->operation;
    remake_ = node->remake;
  } else {
    kept_ = input.value();
  }
}

Array Saved::value() const {
  if (!remake_) return kept_;
  const OpScope scope(operation_);
  return remake_();
}

Tensor record(const OpScope& op, Array y, const Inputs& inputs, Backward backward, Remake remake) {
  count_bytes(op, y, inputs);
  check_anomaly(op.name(), "output", y);
  if (!backward) {
    throw UsageError(fmt::format(
        "{}: recorded without a closure; record_without_gradient() is for operations that have no "
        "gradient, the closure nothing_flows for outputs that do not depend on the inputs",
        op.name()));
  }
  if (!wants_tape(inputs)) return Tensor(std::move(y));
  auto node = std::make_shared<Node>(y.shape());
  node->operation = op.name();
  node->backward = std::move(backward);
  node->remake = std::move(remake);
  node->inputs.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    node->inputs.push_back(TapeAccess::node(input));
    if (input.defined() && input.is_leaf()) {
      node->saved_leaves.emplace_back(input.value(), input.value().version());
    }
  }
  return TapeAccess::make(std::move(y), std::move(node));
}

Tensor record_without_gradient(const OpScope& op, Array y, const Inputs& inputs) {
  if (wants_tape(inputs)) {
    throw UsageError(fmt::format(
        "{}: has no gradient, but an input requires one; detach() it or use NoGrad", op.name()));
  }
  check_anomaly(op.name(), "output", y);
  return Tensor(std::move(y));
}

// ---------------------------------------------------------------- backward

namespace {

/// Every node below `root` that takes part, latest birth first: each is complete when it is
/// visited.
std::vector<std::shared_ptr<Node>> falling_birth(const std::shared_ptr<Node>& root) {
  std::vector<std::shared_ptr<Node>> order{root};
  std::unordered_set<const Node*> seen{root.get()};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::shared_ptr<Node> node = order[i];
    for (const auto& input : node->inputs) {
      if (input != nullptr && seen.insert(input.get()).second) order.push_back(input);
    }
  }
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a->birth > b->birth; });
  return order;
}

void check_usable(const Node& node) {
  if (node.freed) {
    throw UsageError(fmt::format(
        "backward: the tape of '{}' was freed by an earlier backward; pass keep_graph = true there",
        node.operation));
  }
  for (const auto& [value, version] : node.saved_leaves) {
    if (value.version() != version) {
      throw UsageError(fmt::format(
          "backward: an input of '{}' of shape {} was changed in place since the forward pass; "
          "update parameters after backward()",
          node.operation, value.shape().text()));
    }
  }
}

/// Runs the closure of a node. Throws UsageError when it passes over an input (invariant 3).
void run_closure(const Node& node, const Array& dy, Gradients& into) {
  for (const auto& input : node.inputs) {
    if (input != nullptr) input->served = false;
  }
  node.backward(dy, into);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* const input = node.inputs[i].get();
    if (input == nullptr || input->served) continue;
    throw UsageError(fmt::format(
        "backward: '{}' added nothing to the gradient of its input {} of shape {} ({}); every "
        "input that requires a gradient needs into[{}] += ..., or into[{}].nothing_flows() if the "
        "output does not depend on it",
        node.operation, i, input->shape.text(),
        input->leaf() ? "a leaf: a parameter" : fmt::format("the output of '{}'", input->operation),
        i, i));
  }
}

void visit(Node& node, bool keep_graph) {
  if (node.leaf() && node.hooks.empty()) return;  // its sum is its gradient already
  for (const GradientHook& hook : node.hooks) {
    if (node.incoming.shared()) node.incoming = node.incoming.clone();
    hook(node.incoming);
  }
  Array dy = std::move(node.incoming);
  if (node.leaf() || node.retain) {
    if (node.grad.defined()) {
      if (node.grad.shared()) node.grad = node.grad.clone();
      add_in_place(node.grad, dy);
    } else {
      node.grad = node.leaf() ? dy.clone() : dy;
    }
  }
  if (node.leaf()) return;
  check_anomaly(node.operation, "gradient of the output", dy);
  {
    const OpScope scope(node.operation, Pass::backward);
    count_bytes(scope, node);
    Gradients into(node);
    run_closure(node, dy, into);
  }
  if (anomaly) {
    for (const auto& input : node.inputs) {
      if (input != nullptr) check_anomaly(node.operation, "gradient of an input", input->sum());
    }
  }
  if (!keep_graph) node.free();
}

/// Notes in the leaves that modules list a leaf made by parameter() that none lists, if there is
/// one.
void note_unlisted(const std::vector<std::shared_ptr<Node>>& order) {
  const auto found = std::find_if(order.begin(), order.end(), [](const auto& node) {
    return node->is_parameter && !node->listed;
  });
  if (found == order.end()) return;
  for (const auto& node : order) {
    if (std::find(node->inputs.begin(), node->inputs.end(), *found) != node->inputs.end()) {
      (*found)->reader = node->operation;
    }
    if (node->listed) node->unlisted = *found;
  }
}

}  // namespace

void run_backward(const std::shared_ptr<Node>& root, Array cotangent, bool keep_graph) {
  const std::vector<std::shared_ptr<Node>> order = falling_birth(root);
  for (const auto& node : order) check_usable(*node);
  note_unlisted(order);
  GradientSlot(root.get()) += std::move(cotangent);
  try {
    for (const auto& node : order) {
      node->reached = true;
      if (node->sum().defined()) visit(*node, keep_graph);
    }
  } catch (...) {
    for (const auto& node : order) node->incoming = {};
    throw;
  }
  if (keep_graph) return;
  for (const auto& node : order) {
    if (!node->leaf()) node->free();  // also those that no gradient reached
    node->inputs.clear();
  }
}

// ---------------------------------------------------------------- switches

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }
bool grad_enabled() { return recording; }

AnomalyMode::AnomalyMode() : before_(anomaly) { anomaly = true; }
AnomalyMode::~AnomalyMode() { anomaly = before_; }

bool all_finite(const Array& array) {
  return std::all_of(array.data(), array.data() + array.size(),
                     [](Real x) { return std::isfinite(x); });
}

void check_anomaly(const char* operation, const char* what, const Array& array) {
  if (!anomaly || all_finite(array)) return;
  const auto bad = std::find_if(array.data(), array.data() + array.size(),
                                [](Real x) { return !std::isfinite(x); });
  throw NumericError(fmt::format("{}: the {} of shape {} has {} at element {}", operation, what,
                                 array.shape().text(), *bad, bad - array.data()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
