// Checks an attention that looks right. The first stage shows what a falling loss proves: nothing.
#include "4_find_the_heads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 5, width = 12, heads = 4, head_dim = 3;

const chapter::Names names{{"batch", "head", "token", "feature"}, {{"D", 3}, {"h", 4}, {"C", 12}}};

struct Case {
  explicit Case(std::uint64_t seed)
      : rng(seed, "06/4"), x(random_array({batch, tokens, width}, rng)) {
    weights = tutorial_weights(width, heads, rng);
  }
  Array output(const Array& input) const {
    const NoGrad quiet;
    const Tensor y = tutorial_heads(Tensor(input), weights, heads);
    chapter::require(y.defined() && y.shape() == Shape{batch, heads, tokens, head_dim},
                     fmt::format("the heads have the shape {}, expected [2, 4, 5, 3]: batch, head, "
                                 "token, feature.",
                                 y.defined() ? y.shape().text() : "of an undefined tensor"));
    return y.value();
  }
  /// The matrices one below the other, [3 C, C].
  Array packed() const {
    std::vector<Array> matrices;
    for (const Tensor& weight : weights) matrices.push_back(weight.value());
    return concat(matrices, 0);
  }

  Rng rng;
  Array x;
  std::vector<Tensor> weights;
};

/// The heads of the library's layer with W_Q, W_K, W_V as one matrix.
Array expected_heads(const Array& x, const Array& packed) {
  const NoGrad quiet;
  Rng rng(1);
  FusedHeads layer({.width = width, .heads = heads, .bias = false}, rng);
  layer.in_proj_weight.set_value(packed);
  AttentionAsk ask;
  ask.head_out = true;
  const Tensor input(x);
  return layer(input, input, input, AttentionMask::none(), ask).head_out.value();
}

/// The same when the projections are cut into heads by a reshape alone.
Array reshaped_heads(const Array& x, const Array& packed) {
  const NoGrad quiet;
  const auto part = [&](Index i) {
    const Tensor weight(slice(packed, {0, i * width, (i + 1) * width}));
    return reshape(linear(Tensor(x), weight), {batch, heads, tokens, head_dim});
  };
  const Tensor scores = matmul(part(0), transpose(part(1))) * attention_scale(head_dim);
  return matmul(softmax(scores), part(2)).value();
}

}  // namespace

TEST_CASE("it learns: the loss falls", "[06/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Tensor target(random_array({batch, heads, tokens, head_dim}, c.rng));
    double first = 0, last = 0;
    for (int step = 0; step <= 50; ++step) {
      const Tensor loss = squared_error(tutorial_heads(Tensor(c.x), c.weights, heads), target);
      if (!loss.requires_grad()) return;  // the last stage has a sentence for this
      last = double(loss.item());
      if (step == 0) first = last;
      loss.backward();
      for (Tensor& weight : c.weights) {
        const Array gradient = weight.grad();
        for (Index i = 0; gradient.defined() && i < gradient.size(); ++i) {
          weight.edit_value()[i] -= Real(0.3) * gradient[i];
        }
        weight.zero_grad();
      }
    }
    chapter::require(last < first, fmt::format("the loss rises in 50 steps, from {:.3f} to {:.3f}.",
                                               first, last));
  }
}

TEST_CASE("every head reads the whole token", "[06/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Array before = c.output(c.x);
    for (Index part = 0; part < heads; ++part) {
      Array x = c.x.clone();
      for (Index i = 0; i < x.size(); ++i) x[i] += i % width / head_dim == part ? c.x[i] : 0;
      const Array after = c.output(x);
      std::vector<Index> moved;
      for (Index head = 0; head < heads; ++head) {
        const AxisRange own{1, head, head + 1};
        if (largest_difference(slice(before, own), slice(after, own)) > 0) moved.push_back(head);
      }
      const std::string text =
          moved == std::vector{part} ? fmt::format("head {} and no other", part)
          : moved.empty()            ? "no head"
                                     : fmt::format("only the heads {}", fmt::join(moved, ", "));
      chapter::require(
          Index(moved.size()) == heads,
          fmt::format("the loss falls, and yet: moving slice {} of every token moves "
                      "{}.\nIn multi-head attention it moves all {}, because every head "
                      "reads the whole token.",
                      part, text, heads));
    }
  }
}

TEST_CASE("every head has matrices of its own", "[06/4]") {
  const Case c(1);
  Index elements = 0;
  for (const Tensor& weight : c.weights) elements += weight.size();
  chapter::require(elements == 3 * width * width,
                   fmt::format("the matrices have {} elements, W_Q, W_K and W_V of {} heads have "
                               "{}: 3 H D C.",
                               elements, heads, 3 * width * width));
  for (const Tensor& weight : c.weights) {
    chapter::require(weight.rank() == 2 && weight.dim(1) == width,
                     fmt::format("a matrix has the shape {}: each must have {} columns, one for "
                                 "every number of the token.",
                                 weight.shape().text(), width));
  }
}

TEST_CASE("no two heads begin as one", "[06/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Array packed = c.packed();
    // W_Q, W_K and W_V of a head.
    const auto matrices = [&](Index head) {
      std::vector<Array> parts;
      for (Index row = head * head_dim; row < 3 * width; row += width) {
        parts.push_back(slice(packed, {0, row, row + head_dim}));
      }
      return concat(parts, 0);
    };
    for (Index a = 0; a < heads; ++a) {
      for (Index b = a + 1; b < heads; ++b) {
        chapter::require(
            largest_difference(matrices(a), matrices(b)) > 0,
            fmt::format("the heads {} and {} begin with equal matrices, so they find the same, as "
                        "one head would. Draw the numbers of every head.",
                        a, b));
      }
    }
  }
}

TEST_CASE("the same heads as the library's", "[06/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Array packed = c.packed();
    chapter::require_equal("the heads", expected_heads(c.x, packed), c.output(c.x), names,
                           {{"tokens of different positions were mixed: a reshape alone does not "
                             "give every head its columns",
                             [&] { return reshaped_heads(c.x, packed); }}});
  }
}

TEST_CASE("gradients reach all matrices", "[06/4]") {
  Case c(1);
  const Tensor y = tutorial_heads(Tensor(c.x), c.weights, heads);
  if (y.requires_grad()) y.backward(random_array(y.shape(), c.rng));
  for (std::size_t i = 0; i < c.weights.size(); ++i) {
    chapter::require(
        c.weights[i].grad().defined(),
        fmt::format("matrix {} gets no gradient, so it would never change in training.", i));
  }
}
