// d2l: the multi-head attention of "Dive into Deep Learning", its shapes, valid_lens and heat maps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/heads/transplant.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/lab_record.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "lab/numbers.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace d2l {

// The exercise's own sizes.
constexpr Index queries = 4, pairs = 6;
constexpr std::int32_t valid = 3;

/// d2l's forward pass, line by line as in the book, for a batch of one: W_q, W_k, W_v, W_o without
/// biases; masked scores are set to -1e6 before the softmax, where the layer skips them.
struct Book {
  Tensor output, weights;
};

Book as_in_the_book(const FusedHeads& layer, const Tensor& x, const Tensor& y) {
  const NoGrad quiet;
  const Index width = x.dim(2), heads = layer.config().heads, d = width / heads;
  const auto projected = [&](const Tensor& input, Index third) {
    return linear(input, slice(layer.in_proj_weight, 0, third * width, (third + 1) * width));
  };
  const auto transpose_qkv = [&](const Tensor& t) {
    return reshape(permute(reshape(t, {1, t.dim(1), heads, d}), {0, 2, 1, 3}),
                   {heads, t.dim(1), d});
  };
  const Tensor q = transpose_qkv(projected(x, 0)), k = transpose_qkv(projected(y, 1));
  const Tensor v = transpose_qkv(projected(y, 2));
  Bytes allowed({1, 1, pairs}, std::uint8_t{0});
  for (Index j = 0; j < valid; ++j) allowed[j] = 1;
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(static_cast<Real>(d));
  const Tensor weights = softmax(where(allowed, scores, Tensor(Array({1, 1, 1}, Real(-1e6)))));
  const Tensor mixed = permute(reshape(matmul(weights, v), {1, heads, queries, d}), {0, 2, 1, 3});
  return {layer.out_proj(reshape(mixed, {1, queries, width})), weights};
}

/// What a head's map measures, as the text proposes: norms, entropy, variance.
struct Measures {
  double l1, l2, entropy, variance;
};

Measures measures_of(const Array& weights, Index head) {
  Measures m{0, 0, 0, 0};
  const Real* map = weights.data() + head * queries * pairs;
  for (Index i = 0; i < queries * pairs; ++i) {
    const auto w = static_cast<double>(map[i]);
    m.l1 += w;
    m.l2 += w * w;
    if (w > 0) m.entropy -= w * std::log(w) / queries;
  }
  m.variance = m.l2 / (queries * pairs) - std::pow(m.l1 / (queries * pairs), 2);
  m.l2 = std::sqrt(m.l2);
  return m;
}

void run(const LabOptions& options, Notebook& book) {
  const NoGrad quiet;
  const Index width = options.width, heads = options.heads;
  Rng rng(options.seed, "d2l");
  FusedHeads layer({.width = width, .heads = heads, .bias = false}, rng);
  const AttentionMask mask = AttentionMask::lengths(Ids({1}, {valid}));
  AttentionAsk ask;
  ask.maps = true;
  const auto attend_to = [&](const Tensor& x, const Tensor& y) {
    AttentionOut out = layer(x, y, y, mask, ask);
    out.maps = reshape(out.maps, {heads, queries, pairs});
    return out;
  };

  // The exercise as it stands: everything one.
  const Tensor ones_x(ones({1, queries, width})), ones_y(ones({1, pairs, width}));
  const AttentionOut uniform = attend_to(ones_x, ones_y);
  double from_third = 0, on_masked = 0, row_sums = 0;
  const auto check_rows = [&](const Array& weights) {
    for (Index row = 0; row < heads * queries; ++row) {
      double sum = 0;
      for (Index j = 0; j < pairs; ++j) {
        const auto w = static_cast<double>(weights[row * pairs + j]);
        sum += w;
        if (j >= valid) on_masked = larger(on_masked, std::abs(w));
      }
      row_sums = larger(row_sums, std::abs(sum - 1));
    }
  };
  check_rows(uniform.maps.value());
  for (Index row = 0; row < heads * queries; ++row) {
    for (Index j = 0; j < valid; ++j) {
      const auto w = static_cast<double>(uniform.maps.value()[row * pairs + j]);
      from_third = larger(from_third, std::abs(w - 1.0 / valid));
    }
  }

  // The same with random inputs, where the heads differ.
  const Tensor x(normal({1, queries, width}, 2, rng)), y(normal({1, pairs, width}, 2, rng));
  const AttentionOut random = attend_to(x, y);
  check_rows(random.maps.value());
  const Book reference = as_in_the_book(layer, x, y);
  const double output_difference = relative_difference(random.y.value(), reference.output.value());
  const double weight_difference =
      relative_difference(random.maps.value(), reference.weights.value());

  const auto shape = [](const Tensor& t) { return t.shape().text(); };
  book.shapes(
      fmt::format("The output is {}, the weights are {}", shape(random.y), shape(random.maps)),
      "The shapes that the exercise prints, of the layer here.",
      {{"queries X", shape(x), "batch, queries, num_hiddens"},
       {"keys and values Y", shape(y), "batch, key-value pairs, num_hiddens"},
       {"valid_lens", "[1]", fmt::format("the first {} keys of the example", valid)},
       {"attention weights", shape(random.maps), "batch * heads, queries, keys"},
       {"output", shape(random.y), "batch, queries, num_hiddens"}});

  const std::vector<std::string> query_names = numbered("query", queries);
  std::vector<std::string> key_names;
  for (Index j = 0; j < pairs; ++j) key_names.push_back(fmt::format("k{}", j));
  const auto map_of = [&](const Tensor& weights, Index head) {
    return part_of(weights.value(), 0, head, head + 1).reshaped({queries, pairs});
  };
  const Index shown = std::min<Index>(heads, 8);
  std::vector<Notebook::Map> maps{{"all ones: every head", map_of(uniform.maps, 0)}};
  for (Index h = 0; h < shown; ++h) {
    maps.push_back({fmt::format("head {}", h), map_of(random.maps, h)});
  }
  book.maps(fmt::format("The keys after the first {} get nothing", valid),
            "The exercise feeds ones, so its weights are equal in all heads and its heat maps show "
            "the mask alone. With random inputs every head has a map of its own.",
            query_names, key_names, maps);
  const Array output = random.y.value().reshaped({queries, width});
  const double top = largest(output);
  Array positive(output.shape());
  for (Index i = 0; i < output.size(); ++i) {
    positive[i] = std::abs(output[i]) / static_cast<Real>(top);
  }
  const Index features = std::min<Index>(width, 16);
  std::vector<std::string> feature_names;
  for (Index c = 0; c < features; ++c) feature_names.push_back(fmt::format("f{}", c));
  book.maps("The output has features, not keys, on its axis",
            fmt::format("|output| as a share of its largest number, {}; the exercise labels this "
                        "axis \"Key positions\", but it is num_hiddens.",
                        figure_text(top)),
            query_names, feature_names, {{"output", part_of(positive, 1, 0, features)}});

  Notebook::Rows rows;
  double l1_spread = 0, least_l2 = std::numeric_limits<double>::infinity(), most_l2 = 0;
  for (Index h = 0; h < heads; ++h) {
    const Measures m = measures_of(random.maps.value(), h);
    rows.push_back({fmt::format("head {}", h), m.l1, m.l2, m.entropy, m.variance});
    l1_spread = larger(l1_spread, std::abs(m.l1 - queries));
    least_l2 = smaller(least_l2, m.l2);
    most_l2 = larger(most_l2, m.l2);
  }
  book.table("The L1 norm of a head's weights says nothing: it is the number of queries",
             "Measures of a head that the text proposes. Rows of weights sum to one, so their L1 "
             "norm is the same for every head; L2, entropy (in nats) and variance differ.",
             {"", "L1", "L2", "entropy", "variance"}, rows);

  book.equal("output shape differs from [1, 4, num_hiddens] (0: no)",
             random.y.shape() == Shape{1, queries, width} ? 0 : 1, 0);
  book.equal("weights' shape differs from [heads, 4, 6] (0: no)",
             random.maps.shape() == Shape{heads, queries, pairs} ? 0 : 1, 0);
  book.equal("largest weight of a key beyond valid_lens", on_masked, 0);
  book.at_most("all ones: largest |weight - 1/3| of an allowed key", from_third, same_values);
  book.at_most("largest |sum of a row of weights - 1|", row_sums, same_values);
  book.at_most("output against the book's own code, relative difference", output_difference,
               same_values);
  book.at_most("weights against the book's own code, relative difference", weight_difference,
               same_values);
  book.at_most("largest |L1 norm of a head's weights - number of queries|", l1_spread,
               queries * same_values);
  if (heads > 1) {
    book.at_least("L2 norm: largest over smallest head, minus 1", most_l2 / least_l2 - 1, 1e-6);
  }
  book.answer(fmt::format(
      "The layer gives the book's numbers and shapes, {} and {}, and keys beyond valid_lens get "
      "exactly nothing. The heat maps of the exercise look alike only because its inputs are all "
      "ones; of the measures proposed for a head, the L1 norm of its weights is a constant.",
      shape(random.y), shape(random.maps)));
}

}  // namespace d2l
}  // namespace

Experiment d2l_experiment() {
  return {
      .name = "d2l",
      .text = "003",
      .asked_in = "solutions to the exercises of Dive into Deep Learning, section 11.5",
      .title = "What do the heads of d2l's exercise look at?",
      .question =
          "Visualize the attention weights of multiple heads in the experiment with 10 hidden "
          "units, 5 heads, 4 queries, 6 key-value pairs and valid_lens of 3. And how can one "
          "measure the importance of a head?",
      .computed =
          "The layer of the exercise without biases and without dropout, first on ones as in "
          "the exercise, then on random inputs; beside it the book's code line by line, which "
          "sets masked scores to -1e6 instead of skipping them. Then the measures of a map that "
          "the text lists.",
      .formulas = {"weights_h = softmax over the first valid_lens keys of Q_h K_h^T / sqrt(D)",
                   "L1 = sum of weights = number of queries",
                   "entropy = -mean over queries of sum_j w_j log w_j"},
      .defaults = {.width = 10, .heads = 5},
      .limits = {},
      .run = d2l::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
