// Checks the surgery of 12/4 against the library's layer with closed gates, and then by training:
// every parameter must move. The hypotheses are the formula with another scale.
#include "4_surgery.hpp"

#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index heads = 4, head_dim = 3, width = heads * head_dim;
const chapter::Names names{{"batch", "token", "channel"}, {}};

/// The layer of the exercise and the library's, with the same random weights.
struct Twins {
  explicit Twins(std::uint64_t seed)
      : rng(seed, "12/4"),
        library({.width = width, .heads = heads}, rng),
        x(random({2, 5, width})) {
    library.in_proj_weight.set_value(random({3 * width, width}));
    library.in_proj_bias.set_value(random({3 * width}));
    library.out_proj.weight.set_value(random({width, width}));
    library.out_proj.bias.set_value(random({width}));
    layer = {.heads = heads,
             .in_weight = parameter(library.in_proj_weight.value().clone()),
             .in_bias = parameter(library.in_proj_bias.value().clone()),
             .out_weight = parameter(library.out_proj.weight.value().clone()),
             .out_bias = parameter(library.out_proj.bias.value().clone())};
  }
  Array random(const Shape& shape) { return random_array(shape, rng); }
  /// The output with closed gates.
  Array masked(const std::vector<Index>& closed) const {
    const NoGrad quiet;
    Array gates({heads}, 1);
    for (const Index head : closed) gates[head] = 0;
    AttentionAsk ask;
    ask.gates = Tensor(gates);
    return library(x, x, x, AttentionMask::none(), ask).y.value();
  }
  /// The same with queries that are `factor` times as long, that is with another scale.
  Array rescaled(const std::vector<Index>& closed, Real factor) {
    const NoGrad quiet;
    const Array weight = library.in_proj_weight.value(), bias = library.in_proj_bias.value();
    Array longer = weight.clone(), longer_bias = bias.clone();
    for (Index i = 0; i < width * width; ++i) longer[i] *= factor;
    for (Index i = 0; i < width; ++i) longer_bias[i] *= factor;
    library.in_proj_weight.set_value(longer);
    library.in_proj_bias.set_value(longer_bias);
    const Array y = masked(closed);
    library.in_proj_weight.set_value(weight);
    library.in_proj_bias.set_value(bias);
    return y;
  }

  Rng rng;
  FusedHeads library;
  Tensor x;
  SmallAttention layer;
};

/// The four parameters with their names.
std::vector<std::pair<std::string, Tensor>> tensors_of(const SmallAttention& layer) {
  return {{"in_weight", layer.in_weight},
          {"in_bias", layer.in_bias},
          {"out_weight", layer.out_weight},
          {"out_bias", layer.out_bias}};
}

void check_outputs(Twins& twins, const std::vector<Index>& removed) {
  const Index live = heads - std::ssize(removed), rows = live * head_dim;
  chapter::require(
      twins.layer.out_weight.shape() == Shape({width, rows}),
      fmt::format("out_weight is {}, expected {}.{}", twins.layer.out_weight.shape().text(),
                  Shape({width, rows}).text(),
                  twins.layer.out_weight.dim(0) < width
                      ? "\nIt looks as if rows of out_weight were cut; heads own columns."
                      : ""));
  const auto with_scale = [&](Index d) {
    return chapter::Hypothesis{
        fmt::format("the scores were multiplied by another scale: by 1/sqrt({}) instead of "
                    "1/sqrt({}). The heads that stay would have to learn again how to listen",
                    d, head_dim),
        [&twins, removed, d] {
          return twins.rescaled(removed, attention_scale(d) / attention_scale(head_dim));
        }};
  };
  const NoGrad quiet;
  chapter::require_equal(fmt::format("the outputs with {} of {} heads", live, heads),
                         twins.masked(removed), attend(twins.layer, twins.x).value(), names,
                         {with_scale(width / live), with_scale(rows), with_scale(width)});
}

/// An optimizer as it is in most frameworks: it keeps the tensors that it was given.
struct HoldingSgd {
  explicit HoldingSgd(const SmallAttention& layer) : held(tensors_of(layer)) {}
  void step(Real rate) {
    for (auto& [name, tensor] : held) {
      if (!tensor.grad().defined()) continue;
      Array value = tensor.value().clone();
      for (Index i = 0; i < value.size(); ++i) value[i] -= rate * tensor.grad()[i];
      tensor.set_value(value);  // forgets the gradient, too
    }
  }
  std::vector<std::pair<std::string, Tensor>> held;
};

}  // namespace

TEST_CASE("with all heads", "[12/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    check_outputs(twins, {});
  }
}

TEST_CASE("removed = gates closed", "[12/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    remove_heads(twins.layer, {1});
    check_outputs(twins, {1});
    remove_heads(twins.layer, {0});
    check_outputs(twins, {0, 1});
  }
}

TEST_CASE("training goes on", "[12/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    HoldingSgd sgd(twins.layer);
    remove_heads(twins.layer, {1});
    const auto before = tensors_of(twins.layer);
    std::vector<Array> values;
    for (const auto& [name, tensor] : before) values.push_back(tensor.value().clone());
    const Tensor target(twins.random({2, 5, width}));
    std::vector<Real> losses;
    for (int step = 0; step < 20; ++step) {
      const Tensor loss = squared_error(attend(twins.layer, twins.x), target);
      losses.push_back(loss.item());
      loss.backward();
      sgd.step(Real(0.02));
    }
    const auto after = tensors_of(twins.layer);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto& [name, tensor] = after[i];
      if (!chapter::difference("", values[i], tensor.value()).empty()) continue;
      std::string why;
      if (!tensor.requires_grad()) {
        why = fmt::format(
            "It looks as if {} is a constant now: parameter() makes one that gets "
            "gradients, set_value() keeps the one that is there.",
            name);
      } else if (!sgd.held[i].second.same(tensor)) {
        why = fmt::format(
            "It looks as if {} is a new tensor: it gets a gradient, but the optimizer "
            "holds the former one, which is in no layer any more.",
            name);
      }
      FAIL(fmt::format(
          "{} never moves, although the loss fell from {:.3g} to {:.3g} in {} steps.\n{}", name,
          losses.front(), losses.back(), losses.size(), why));
    }
    SUCCEED();
  }
}
