// Checks Optimizer::change through apply(): moments and step counts of Adam before and after the
// removal of heads, and the steps of a removed head's neighbours against those of a masked model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index width = 7, heads = 4, head_dim = 2;

std::unique_ptr<Attention> random_layer(Layout layout, std::uint64_t seed) {
  Rng rng(seed, "12/3");
  auto layer = make_attention(layout, {.width = width, .heads = heads, .head_dim = head_dim}, rng);
  for (NamedParameter& p : parameters(*layer)) {
    p.tensor.set_value(random_array(p.tensor.shape(), rng));
  }
  return layer;
}

/// Random moments, and another step count for each index.
void fill(Optimizer& optimizer, std::uint64_t seed) {
  Rng rng(seed, "12/3 moments");
  for (const NamedParameter& p : parameters(optimizer.model())) {
    OptimizerState& state = optimizer.state(p.name);
    if (state.first.defined()) state.first = random_array(p.tensor.shape(), rng);
    if (state.second.defined()) {
      state.second = random_array(p.tensor.shape(), rng);
      for (Real& square : state.second.span()) square *= square;
    }
    std::int64_t count = 3;
    for (std::int64_t& steps : state.steps) steps = count++;
  }
}

/// Slices of a moment along an axis, 0 for fresh indices: plain loops.
Array taken(const Array& moment, int axis, const std::vector<Index>& from) {
  std::vector<Array> parts;
  for (const Index index : from) {
    parts.push_back(index == ParameterEdit::fresh ? zeros(moment.shape().with(axis, 1))
                                                  : slice(moment, {axis, index, index + 1}));
  }
  return parts.empty() ? zeros(moment.shape().with(axis, 0)) : concat(parts, axis);
}

void check_moment(const std::string& which, const ParameterEdit& edit, const Array& before,
                  const Array& after) {
  if (!before.defined()) {
    chapter::require(
        !after.defined(),
        fmt::format("{} of {} appeared: this optimizer does not keep them.", which, edit.name));
    return;
  }
  chapter::require_equal(fmt::format("{} of {}", which, edit.name),
                         taken(before, edit.axis, edit.from), after);
}

void check_steps(const ParameterEdit& edit, const OptimizerState& before,
                 const OptimizerState& after) {
  if (edit.axis != before.axis) {
    chapter::require(
        after.steps == before.steps,
        fmt::format("the step counts of {} changed. They belong to axis {}; the edit was "
                    "along another axis.",
                    edit.name, before.axis));
    return;
  }
  std::vector<std::int64_t> right;
  bool fresh = false;
  for (const Index index : edit.from) {
    right.push_back(index == ParameterEdit::fresh ? 0 : before.steps[std::size_t(index)]);
    fresh = fresh || index == ParameterEdit::fresh;
  }
  if (right == after.steps) {
    SUCCEED();
    return;
  }
  chapter::require(after.steps.size() == right.size(),
                   fmt::format("{} has {} step counts for {} indices of axis {}.", edit.name,
                               after.steps.size(), right.size(), edit.axis));
  std::string text = fmt::format("the step counts of {} are {}, expected {}.", edit.name,
                                 fmt::join(after.steps, ", "), fmt::join(right, ", "));
  if (std::all_of(after.steps.begin(), after.steps.end(), [](auto n) { return n == 0; })) {
    text +=
        "\nIt looks as if all were set to 0: the correction of Adam's bias starts anew, and the "
        "next step is divided by a number that is too small.";
  } else if (fresh) {
    text += "\nKept indices keep their counts; a fresh index must start at 0.";
  }
  FAIL(text);
}

/// Applies an edit and checks what became of the state.
void check(Optimizer& optimizer, const ParameterEdit& edit) {
  const OptimizerState before = optimizer.state(edit.name);
  optimizer.apply(edit);
  if (edit.gone) {
    chapter::require(
        !optimizer.states().contains(edit.name),
        fmt::format("{} is gone, and the optimizer still has its moments: the next step "
                    "is refused.",
                    edit.name));
    return;
  }
  const OptimizerState& after = optimizer.state(edit.name);
  check_moment("the first moments", edit, before.first, after.first);
  check_moment("the second moments", edit, before.second, after.second);
  check_steps(edit, before, after);
}

/// A layer with its optimizer, trained on <dy, y>.
struct Learner {
  Learner(Layout layout, std::uint64_t seed) : layer(random_layer(layout, seed)), adam(*layer) {
    Rng rng(seed, "12/3 learner");
    x = Tensor(random_array({2, 3, width}, rng));
    dy = random_array({2, 3, width}, rng);
    for (int i = 0; i < 3; ++i) step();
  }
  Tensor output() const { return (*layer)(x, x, x, AttentionMask::none(), ask).y; }
  void step() {
    adam.zero_grad();
    output().backward(dy);
    adam.step(0.05);
  }

  std::unique_ptr<Attention> layer;
  Adam adam;
  Tensor x;
  Array dy;
  AttentionAsk ask;
};

}  // namespace

TEST_CASE("fused heads: rows and columns", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto layer = random_layer(Layout::fused, seed);
    Adam adam(*layer);
    fill(adam, seed);
    for (const ParameterEdit& edit : layer->prune(std::vector<Index>{1})) check(adam, edit);
  }
}

TEST_CASE("separate heads: parameters that are gone", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto layer = random_layer(Layout::separate, seed);
    Adam adam(*layer);
    fill(adam, seed);
    for (const ParameterEdit& edit : layer->prune(std::vector<Index>{1, 2})) check(adam, edit);
  }
}

TEST_CASE("fresh indices", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto layer = random_layer(Layout::fused, seed);
    Adam adam(*layer);
    fill(adam, seed);
    const Index fresh = ParameterEdit::fresh;
    check(adam, {.name = "out_proj.weight", .axis = 1, .from = {5, fresh, fresh, 2, 7}});
    check(adam, {.name = "in_proj_bias", .axis = 0, .from = {fresh, 3, 1, fresh}});
  }
}

TEST_CASE("an edit along another axis than that of the heads", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto layer = random_layer(Layout::fused, seed);
    Adam adam(*layer);
    fill(adam, seed);
    check(adam, {.name = "in_proj_weight", .axis = 1, .from = {0, 2, 3, 6}});
    check(adam, {.name = "out_proj.weight", .axis = 0, .from = {6, 1}});
  }
}

TEST_CASE("an optimizer with one moment, and one with none", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const double momentum : {0.9, 0.0}) {
      const auto layer = random_layer(Layout::fused, seed);
      Sgd sgd(*layer, {.momentum = momentum});
      fill(sgd, seed);
      for (const ParameterEdit& edit : layer->prune(std::vector<Index>{0, 3})) check(sgd, edit);
    }
  }
}

TEST_CASE("the heads that stay take the steps that they take beside a masked head", "[12/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : {Layout::separate, Layout::fused}) {
      Learner masked(layout, seed), compact(layout, seed);
      Array gates({heads}, 1);
      gates[1] = gates[2] = 0;
      masked.ask.gates = Tensor(gates);
      compact.adam.apply(compact.layer->prune(std::vector<Index>{1, 2}));
      for (int i = 0; i < 4; ++i) {
        masked.step();
        compact.step();
      }
      chapter::require_equal("the outputs after 4 steps", masked.output().value(),
                             compact.output().value(), {{"batch", "token", "channel"}, {}});
    }
  }
}
