// Checks make_twins: what was copied, what was left alone, and 100 steps of training.
#include <fmt/format.h>

#include <algorithm>

#include "3_twins.hpp"
#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/sgd.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index width = 12, heads = 4, head_dim = 3, from = 1, to = 3;
/// Rounding may differ between the columns of two heads.
constexpr double most_apart = is_double ? 1e-9 : 1e-3;
constexpr Index steps = 100, first_look = 15;

void randomise(Attention& layer, Rng& rng) {
  for (NamedParameter& p : parameters(layer)) {
    Array values = random_array(p.tensor.shape(), rng);
    for (Real& value : values.span()) value *= Real(0.3);
    p.tensor.set_value(values);
  }
}

/// A layer with random weights, and a copy of it from before.
struct Case {
  explicit Case(std::uint64_t seed, bool bias = true)
      : rng(seed, "08/3"), layer(config(bias), rng), before(config(bias), rng) {
    randomise(layer, rng);
    transplant(layer, before);
    make_twins(layer, from, to);
  }
  static AttentionConfig config(bool bias) {
    return {.width = width, .heads = heads, .bias = bias};
  }
  Rng rng;
  SeparateHeads layer, before;
};

struct Named {
  const char* name;
  std::vector<std::unique_ptr<Linear>>* heads;
};
std::vector<Named> projections(SeparateHeads& layer) {
  return {{"query", &layer.query}, {"key", &layer.key}, {"value", &layer.value}};
}

Array columns_of(const SeparateHeads& layer, Index head) {
  return slice(layer.out.weight.value(), {1, head * head_dim, (head + 1) * head_dim});
}
Array rows_of(const SeparateHeads& layer, Index head) {
  return slice(layer.out.weight.value(), {0, head * head_dim, (head + 1) * head_dim});
}

bool equal(const Array& a, const Array& b) {
  return a.shape() == b.shape() && largest_difference(a, b) == 0;
}

/// The largest difference of the two heads in query, key and value. The key biases have no effect,
/// and are left out.
double apart(SeparateHeads& layer) {
  double most = 0;
  for (const auto& [name, list] : projections(layer)) {
    const Linear &a = *(*list)[from], &b = *(*list)[to];
    most = std::max(most, largest_difference(a.weight.value(), b.weight.value()));
    if (a.bias.defined() && list != &layer.key) {
      most = std::max(most, largest_difference(a.bias.value(), b.bias.value()));
    }
  }
  return most;
}

/// Why two heads drift apart in training: a sentence that follows from their present weights.
std::string reason(const SeparateHeads& before, const SeparateHeads& layer) {
  if (equal(columns_of(layer, from), columns_of(layer, to))) return "";
  std::string text = "\nTheir columns of W_O differ, so their gradients do.";
  if (equal(rows_of(layer, to), rows_of(before, from))) {
    text += "\nIt looks as if rows of out.weight were copied: a head owns columns.";
  }
  return text;
}

}  // namespace

TEST_CASE("the two heads are equal", "[08/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    for (const auto& [name, list] : projections(c.layer)) {
      const Linear &a = *(*list)[from], &b = *(*list)[to];
      const Linear& original = *(*projections(c.before)[0].heads)[to];
      const bool reversed = list == &c.layer.query &&
                            equal(a.weight.value(), original.weight.value()) &&
                            equal(b.weight.value(), original.weight.value());
      chapter::require(!reversed, fmt::format("head {} became a twin of head {}: it should be the "
                                              "other way round.",
                                              from, to));
      chapter::require(equal(a.weight.value(), b.weight.value()),
                       fmt::format("{}.weight of the two heads differs.", name));
      chapter::require(
          equal(a.bias.value(), b.bias.value()),
          fmt::format("the biases of the two heads differ, first in {}.{}.bias.", name, to));
    }
  }
}

TEST_CASE("two heads, not one", "[08/3]") {
  Case c(1);
  for (const auto& [name, list] : projections(c.layer)) {
    const Linear &a = *(*list)[from], &b = *(*list)[to];
    chapter::require(!a.weight.same(b.weight) && !a.bias.same(b.bias),
                     fmt::format("{0}.{1} and {0}.{2} are one parameter under two names: it gets "
                                 "the gradients of both heads, and no optimizer could move one "
                                 "without the other.",
                                 name, from, to));
    chapter::require(!a.weight.value().same_buffer(b.weight.value()) &&
                         !a.bias.value().same_buffer(b.bias.value()),
                     fmt::format("{0}.{1} and {0}.{2} share their numbers: an optimizer would move "
                                 "them twice in each step. clone() copies them.",
                                 name, from, to));
  }
}

TEST_CASE("100 steps of training", "[08/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const std::string why = reason(c.before, c.layer);
    FusedHeads teacher(c.layer.config(), c.rng);
    randomise(teacher, c.rng);
    Sgd optimizer(c.layer, {.momentum = 0.9});
    const double start = apart(c.layer);
    for (Index step = 1; step <= steps; ++step) {
      const Tensor x(random_array({2, 5, width}, c.rng));
      zero_grad(c.layer);
      squared_error(c.layer(x, x, AttentionMask::none()), teacher(x, x, AttentionMask::none()))
          .backward();
      optimizer.step(0.05);
      const double now = apart(c.layer);
      if (step % first_look != 0 && step != steps) continue;
      chapter::require(now <= most_apart,
                       fmt::format("the two heads are {} at the start, {:.2g} apart after {} "
                                   "steps.{}",
                                   start == 0 ? "equal" : "unequal", now, step, why));
    }
  }
}

TEST_CASE("the others stay as they were", "[08/3]") {
  for (const bool bias : {true, false}) {
    Case c(1, bias);
    for (Index head = 0; head < heads; ++head) {
      if (head == to) continue;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto h = std::size_t(head);
        const auto [name, list] = projections(c.layer)[i];
        chapter::require(
            equal((*list)[h]->weight.value(), (*projections(c.before)[i].heads)[h]->weight.value()),
            fmt::format("{}.{}.weight changed; only head {} should.", name, head, to));
      }
      chapter::require(equal(columns_of(c.layer, head), columns_of(c.before, head)),
                       fmt::format("the columns of head {} in out.weight changed; only those of "
                                   "head {} should.",
                                   head, to));
    }
  }
}
