// solutions: 01_1 01_2 01_3
// A scalar tape: the numbers of chapter 01. The derivative of a program with a loop, visits of
// nodes that are read twice, and XOR, learned number by number and by the library.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "01_a_tape/value.hpp"
#include "facts.hpp"
#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"

using namespace headroom;
using scalar::Node;
using scalar::Value;

namespace {

// ---------------------------------------------------------------- a program with a loop

/// One over the root of x: five steps of Newton's method.
template <class Number>
Number inverse_root(const Number& x) {
  Number y = 0.5;
  for (int step = 0; step < 5; ++step) y = y * (1.5 + -0.5 * x * y * y);
  return y;
}

void measure_program() {
  const Value x(2), y = inverse_root(x);
  y.backward();
  claim("1 / sqrt(2)", y.value(), 0.7071, 0.70711);
  claim("derivative by the tape", x.grad(), -0.17678, -0.17677);
  claim("derivative by the formula", -0.5 * std::pow(2, -1.5), -0.17678, -0.17677);
  claim("they differ by", std::abs(x.grad() + 0.5 * std::pow(2, -1.5)), 0, 1e-8);
  part("01/a");
  claim("nodes on the tape", double(scalar::backward_order(y.node().get()).size()), 37, 37, "01/a");
}

// ---------------------------------------------------------------- nodes that are read twice

/// b = a + a, c = b + b, ...: 2^times a.
Value doubled(const Value& a, int times) {
  Value value = a;
  for (int i = 0; i < times; ++i) value = value + value;
  return value;
}

/// A pass that goes down every path with that path's part of the gradient. Counts visits of leaves.
std::int64_t every_path(const Node& node, double dy, double& gradient) {
  if (node.inputs.empty()) {
    gradient += dy;
    return 1;
  }
  std::int64_t visits = 0;
  for (const auto& input : node.inputs) visits += every_path(*input, dy, gradient);  // of a sum
  return visits;
}

/// A pass that adds to the gradients and then goes down to each input: the wrong one.
void too_eager(Node& node) {
  if (node.inputs.empty()) return;
  node.backward(node.gradient, scalar::Gradients(node.inputs));
  for (const auto& input : node.inputs) too_eager(*input);
}

void measure_visits() {
  part("01/b");
  const Value x(1), y = doubled(x, 2);
  y.node()->gradient = 1;
  too_eager(*y.node());
  claim("4 x: gradient, too eager", x.grad(), 8, 8, "01/b");
  part("01/c");
  const Value a(1), twenty = doubled(a, 20);
  double gradient = 0;
  claim("visits of a, every path", double(every_path(*twenty.node(), 1, gradient)), 1048576,
        1048576, "01/c");
  claim("its gradient, every path", gradient, 1048576, 1048576);
  const std::vector<Node*> order = scalar::backward_order(twenty.node().get());
  claim("visits of a, by the tape", double(std::count(order.begin(), order.end(), a.node().get())),
        1, 1);
  twenty.backward();
  claim("its gradient, by the tape", a.grad(), 1048576, 1048576);
}

// ---------------------------------------------------------------- XOR

constexpr int hidden = 8, steps = 400, seeds = 5;
constexpr double rate = 0.03;
constexpr std::array<std::array<double, 3>, 4> examples{
    {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}};

/// sigmoid(second(tanh(first(x)))), 2 -> 8 -> 1, as in examples/xor.cpp.
class Bend : public Module {
 public:
  explicit Bend(Rng& rng) : first(2, hidden, rng), second(hidden, 1, rng) {}
  Tensor operator()(const Tensor& x) const { return sigmoid(second(headroom::tanh(first(x)))); }
  void members(Members& visit) override {
    visit("first", first);
    visit("second", second);
  }
  std::string title() const override { return "Bend"; }

  Linear first, second;
};

/// The same network with the same weights, number by number, and Adam.
class ScalarBend {
 public:
  explicit ScalarBend(Bend& model) {
    for (const NamedParameter& p : parameters(model)) {
      for (const Real number : p.tensor.value().span()) weights_.emplace_back(number);
    }
    mean_.resize(weights_.size());
    square_.resize(weights_.size());
  }
  Value operator()(const Value& x0, const Value& x1) const {
    const auto* const bias = &weights_[2 * hidden];
    const auto* const second = bias + hidden;
    Value z = second[hidden];
    for (int i = 0; i < hidden; ++i) {
      const auto row = std::size_t(2 * i);
      z = z + second[i] * tanh(weights_[row] * x0 + weights_[row + 1] * x1 + bias[i]);
    }
    return 0.5 + 0.5 * tanh(0.5 * z);  // the sigmoid of z
  }
  Value loss() const {
    Value sum = 0;
    for (const auto& [x0, x1, wanted] : examples) {
      const Value error = (*this)(x0, x1) + -wanted;
      sum = sum + 0.25 * error * error;
    }
    return sum;
  }
  void zero_grad() {
    for (const Value& weight : weights_) weight.node()->gradient = 0;
  }
  void step(int number) {  // counts from 1
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      Node& weight = *weights_[i].node();
      const double g = weight.gradient;
      mean_[i] += 0.1 * (g - mean_[i]);
      square_[i] += 0.001 * (g * g - square_[i]);
      const double mean = mean_[i] / (1 - std::pow(0.9, number));
      const double square = square_[i] / (1 - std::pow(0.999, number));
      weight.value -= rate * mean / (std::sqrt(square) + 1e-8);
    }
  }
  double answer(double x0, double x1) const { return (*this)(x0, x1).value(); }

 private:
  std::vector<Value> weights_;
  std::vector<double> mean_, square_;
};

struct Trained {
  double loss = 0, library_loss = 0, apart = 0, nodes = 0, operations = 0, not_zeroed = 0;
  int right = 0;
};

void draw(const ScalarBend& model) {
  for (int y = 10; y >= 0; --y) {
    std::string line = "|";
    for (int x = 0; x <= 20; ++x) {
      const double answer = model.answer(x / 20.0, y / 10.0);
      line += answer > 0.9 ? " #" : answer > 0.5 ? " +" : answer > 0.1 ? " -" : " .";
    }
    std::printf("%s |\n", line.c_str());
  }
}

Trained train(std::uint64_t seed) {
  Rng rng(seed, "init");
  Bend library(rng);
  ScalarBend model(library), forgetful(library);
  Adam adam(library);
  const Tensor x = constant(Array({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}));
  const Tensor y = constant(Array({4, 1}, {0, 1, 1, 0}));
  Trained result;
  for (int step = 1; step <= steps; ++step) {
    const Tensor of_library = squared_error(library(x), y);
    const Value loss = model.loss();
    result.apart = std::max(result.apart, std::abs(double(of_library.item()) - loss.value()));
    result.nodes = double(scalar::backward_order(loss.node().get()).size());
    result.operations = double(graph_size(of_library));
    adam.zero_grad();
    of_library.backward();
    adam.step(rate);
    model.zero_grad();
    loss.backward();
    model.step(step);
    forgetful.loss().backward();
    forgetful.step(step);
  }
  result.loss = model.loss().value();
  result.library_loss = double(squared_error(library(x), y).item());
  result.not_zeroed = forgetful.loss().value();
  for (const auto& [x0, x1, wanted] : examples) {
    result.right += (model.answer(x0, x1) > 0.5) == (wanted > 0.5) ? 1 : 0;
  }
  if (seed == 1) draw(model);
  return result;
}

void measure_xor() {
  double right = 0, apart = 0, worst = 0, not_zeroed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Trained run = train(seed);
    if (seed == 1) {
      part("01/d");
      claim("loss of your tape", run.loss, 0, 0.01);
      claim("loss of the library", run.library_loss, 0, 0.01);
      claim("numbers on your tape", run.nodes, 200, 600);
      claim("operations on the library's", run.operations, 4, 20);
    }
    right += run.right;
    apart = std::max(apart, run.apart);
    worst = std::max(worst, run.loss);
    not_zeroed = std::max(not_zeroed, run.not_zeroed);
  }
  part("");  // answers nothing: shown in any case
  claim("right answers of 20", right, 20, 20);
  claim("worst loss of 5 seeds", worst, 0, 0.01);
  part("01/d");
  claim("losses apart, at most", apart, 0, 1e-12, "01/d");
  part("");  // answers nothing: shown in any case
  claim("without zero_grad, worst loss", not_zeroed, 0.2, 1);
  fact("loss of always answering 0.5", 0.25);
}

// ---------------------------------------------------------------- the figure

/// A program as a record: its nodes, and the contributions to gradients one after the other, by the
/// tape's order and by the eager plan.
class Playback {
 public:
  Playback(std::string name, std::vector<std::pair<std::string, Value>> nodes)
      : name_(std::move(name)), nodes_(std::move(nodes)) {}

  Record record() const {
    Record nodes = Record::array(), tape = Record::array(), eager = Record::array();
    for (const auto& [text, value] : nodes_) {
      Record inputs = Record::array();
      for (const auto& input : value.node()->inputs) inputs.push_back(place(input.get()));
      nodes.push_back({{"text", text}, {"value", value.value()}, {"inputs", inputs}});
    }
    Node* root = nodes_.back().second.node().get();
    begin(tape);
    for (Node* node : scalar::backward_order(root)) pass(*node, tape);
    begin(eager);
    at_once(*root, eager);
    return {{"name", name_}, {"nodes", nodes}, {"tape", tape}, {"eager", eager}};
  }

 private:
  std::size_t place(const Node* node) const {
    std::size_t at = 0;
    while (nodes_[at].second.node().get() != node) ++at;
    return at;
  }
  /// All gradients are 0 but that of the root.
  void begin(Record& events) const {
    for (const auto& [text, value] : nodes_) value.node()->gradient = 0;
    nodes_.back().second.node()->gradient = 1;
    events.push_back({{"from", -1}, {"to", nodes_.size() - 1}, {"add", 1.0}});
  }
  /// Adds the gradients that a node passes to its inputs to the events. Stand-ins keep the parts of
  /// a node that is read twice apart.
  void pass(const Node& node, Record& events) const {
    if (node.inputs.empty()) return;
    scalar::Inputs parts;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) parts.push_back(std::make_shared<Node>());
    node.backward(node.gradient, scalar::Gradients(parts));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      node.inputs[i]->gradient += parts[i]->gradient;
      const std::size_t to = place(node.inputs[i].get());
      events.push_back({{"from", place(&node)}, {"to", to}, {"add", parts[i]->gradient}});
    }
  }
  void at_once(const Node& node, Record& events) const {
    pass(node, events);
    for (const auto& input : node.inputs) at_once(*input, events);
  }

  std::string name_;
  std::vector<std::pair<std::string, Value>> nodes_;
};

/// One round of inverse_root, and two doublings.
void write_tape() {
  if (!figure_wanted()) return;
  const Value x(2), y(0.5), half(-0.5), a = half * x, b = a * y, c = b * y, most(1.5), d = most + c,
                                        next = y * d;
  const Playback round("one round of the program", {{"x", x},
                                                    {"y", y},
                                                    {"-0.5", half},
                                                    {"a = -0.5 · x", a},
                                                    {"b = a · y", b},
                                                    {"c = b · y", c},
                                                    {"1.5", most},
                                                    {"d = 1.5 + c", d},
                                                    {"L = y · d", next}});
  const Value one(1), two = one + one, four = two + two;
  const Playback doublings("two doublings", {{"a", one}, {"b = a + a", two}, {"L = b + b", four}});
  write_figure({{"programs", {round.record(), doublings.record()}}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the networks are small
  measure_program();
  measure_visits();
  measure_xor();
  write_tape();
  return finish();
}
