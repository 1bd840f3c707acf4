// d2l: the multi-head attention of "Dive into Deep Learning", its shapes, valid_lens and heat maps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace d2l {

// The sizes of the exercise.
constexpr Index queries = 4, pairs = 6;
constexpr std::int32_t valid = 3;

/// d2l's forward pass, line by line as in the book: W_q, W_k, W_v, W_o without biases; valid_lens
/// is [batch] or [batch, queries]; masked scores are set to -1e6 before the softmax, where the
/// layer skips them. Weights are [batch * heads, queries, keys].
struct Book {
  Tensor output, weights;
};

/// torch.repeat_interleave(lengths, repeats, dim=0): repeats each entry, a number or a row.
Ids repeat_interleave(const Ids& lengths, Index repeats) {
  Ids result(lengths.shape().with(0, lengths.dim(0) * repeats));
  const Index row = lengths.size() / lengths.dim(0);
  for (Index i = 0; i < result.size(); ++i) {
    result[i] = lengths[i / (row * repeats) * row + i % row];
  }
  return result;
}

/// 1 for the keys that the book's masked_softmax keeps, [batch * heads, queries, keys].
Bytes kept_keys(Ids lengths, Index heads) {
  lengths = repeat_interleave(lengths, heads);
  const Index maps = lengths.dim(0);
  if (lengths.rank() == 1) lengths = repeat_interleave(lengths, queries);
  Bytes kept({maps, queries, pairs}, std::uint8_t{0});
  for (Index i = 0; i < kept.size(); ++i) kept[i] = i % pairs < lengths[i / pairs] ? 1 : 0;
  return kept;
}

Book as_in_the_book(const FusedHeads& layer, const Tensor& x, const Tensor& y,
                    const Ids& valid_lens) {
  const NoGrad quiet;
  const Index batch = x.dim(0), width = x.dim(2), heads = layer.config().heads, d = width / heads;
  const auto projected = [&](const Tensor& input, Index third) {
    return linear(input, slice(layer.in_proj_weight, 0, third * width, (third + 1) * width));
  };
  const auto transpose_qkv = [&](const Tensor& t) {
    return reshape(permute(reshape(t, {batch, t.dim(1), heads, d}), {0, 2, 1, 3}),
                   {batch * heads, t.dim(1), d});
  };
  const Tensor q = transpose_qkv(projected(x, 0)), k = transpose_qkv(projected(y, 1));
  const Tensor v = transpose_qkv(projected(y, 2));
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(Real(d));
  const Tensor weights =
      softmax(where(kept_keys(valid_lens, heads), scores, Tensor(Array({1, 1, 1}, Real(-1e6)))));
  const Tensor mixed =
      permute(reshape(matmul(weights, v), {batch, heads, queries, d}), {0, 2, 1, 3});
  return {layer.out_proj(reshape(mixed, {batch, queries, width})), weights};
}

/// The results of the library's layer: its output, its weights as [batch * heads, queries, keys],
/// and every head's output.
struct Attended {
  Tensor output, weights, head_outputs;
};

Attended attend(const FusedHeads& layer, const Tensor& x, const Tensor& y, const Ids& valid_lens) {
  AttentionAsk ask;
  ask.maps = ask.head_out = true;
  const AttentionOut out = layer(x, y, y, AttentionMask::lengths(valid_lens), ask);
  return {out.y, reshape(out.maps, {-1, queries, pairs}), out.head_out};
}

/// The measures of a head that the text proposes: norms, entropy and variance of its map, and
/// the variance of its output over the queries, mean over features.
struct Measures {
  double l1 = 0, l2 = 0, entropy = 0, variance = 0, output_variance = 0;
};

Measures measures_of(const Attended& attended, Index head) {
  Measures m;
  const Real* map = attended.weights.value().data() + head * queries * pairs;
  for (Index i = 0; i < queries * pairs; ++i) {
    const auto w = double(map[i]);
    m.l1 += w;
    m.l2 += w * w;
    if (w > 0) m.entropy -= w * std::log(w) / queries;
  }
  m.variance = m.l2 / (queries * pairs) - std::pow(m.l1 / (queries * pairs), 2);
  m.l2 = std::sqrt(m.l2);
  const Index d = attended.head_outputs.dim(3);
  const Real* output = attended.head_outputs.value().data() + head * queries * d;
  for (Index c = 0; c < d; ++c) {
    double mean = 0;
    for (Index i = 0; i < queries; ++i) mean += double(output[i * d + c]) / queries;
    for (Index i = 0; i < queries; ++i) {
      const double off = double(output[i * d + c]) - mean;
      m.output_variance += off * off / double(queries * d);
    }
  }
  return m;
}

/// Checks that every map must pass: weight 0 on masked keys, rows that sum to one.
struct RowChecks {
  double on_masked = 0, off_one = 0;
  void check(const Array& weights, const Bytes& kept) {
    for (Index row = 0; row < weights.size(); row += pairs) {
      double sum = 0;
      for (Index i = row; i < row + pairs; ++i) {
        const auto w = double(weights[i]);
        sum += w;
        if (kept[i] == 0) on_masked = larger(on_masked, std::abs(w));
      }
      off_one = larger(off_one, std::abs(sum - 1));
    }
  }
};

/// Compares the layer with the book's code, for each form of valid_lens.
void compare_with_book(const FusedHeads& layer, Rng& rng, RowChecks& row_checks, Notebook& book) {
  struct Case {
    const char* name;
    Ids lengths;
  };
  const Case cases[] = {
      {"one for each example of one", Ids({1}, {valid})},
      {"one for each example of two", Ids({2}, {3, 2})},
      {"one for each query of two examples", Ids({2, queries}, {1, 3, 6, 2, 5, 4, 2, 3})}};
  Notebook::Rows rows;
  double output = 0, weights = 0;
  for (const Case& one : cases) {
    const Index batch = one.lengths.dim(0), width = layer.config().width;
    const Tensor x(normal({batch, queries, width}, 2, rng));
    const Tensor y(normal({batch, pairs, width}, 2, rng));
    const Attended here = attend(layer, x, y, one.lengths);
    const Book there = as_in_the_book(layer, x, y, one.lengths);
    row_checks.check(here.weights.value(), kept_keys(one.lengths, layer.config().heads));
    const double of_output = relative_difference(here.output.value(), there.output.value());
    const double of_weights = relative_difference(here.weights.value(), there.weights.value());
    output = larger(output, of_output);
    weights = larger(weights, of_weights);
    rows.push_back(
        {one.name, one.lengths.shape().text(), here.weights.shape().text(), of_weights, of_output});
  }
  book.table("Difference between the layer and the book's code by shape of valid_lens",
             "The book repeats valid_lens, [batch] or [batch, queries], for every head; this layer "
             "takes both as a mask. Random inputs, max |difference| / max |value|.",
             {"valid_lens", "shape", "shape of the weights", "weights", "output"}, rows);
  book.at_most("output against the book's code, relative difference", output, same_values);
  book.at_most("weights against the book's code, relative difference", weights, same_values);
}

/// The shapes that the exercise prints.
void show_shapes(const LabOptions& options, const Tensor& x, const Tensor& y, const Attended& out,
                 Notebook& book) {
  const auto shape = [](const Tensor& t) { return t.shape().text(); };
  book.shapes(
      sentence("The output is {}, the weights are {}", shape(out.output), shape(out.weights)),
      "The shapes that the exercise prints, computed by this layer.",
      {{"queries X", shape(x), "batch, queries, num_hiddens"},
       {"keys and values Y", shape(y), "batch, key-value pairs, num_hiddens"},
       {"valid_lens", "[1]", fmt::format("the first {} keys of the example", valid)},
       {"attention weights", shape(out.weights), "batch * heads, queries, keys"},
       {"output", shape(out.output), "batch, queries, num_hiddens"}});
  book.equal("output shape differs from [1, 4, num_hiddens] (0: no)",
             out.output.shape() == Shape{1, queries, options.width} ? 0 : 1, 0);
  book.equal("weights' shape differs from [heads, 4, 6] (0: no)",
             out.weights.shape() == Shape{options.heads, queries, pairs} ? 0 : 1, 0);
}

void show_maps(const LabOptions& options, const Attended& uniform, const Attended& random,
               Notebook& book) {
  const std::vector<std::string> query_names = numbered("query", queries);
  std::vector<std::string> key_names, feature_names;
  for (Index j = 0; j < pairs; ++j) key_names.push_back(fmt::format("k{}", j));
  const auto map_of = [&](const Tensor& weights, Index head) {
    return slice(weights.value(), {0, head, head + 1}).reshaped({queries, pairs});
  };
  std::vector<Notebook::Map> maps{{"all ones: every head", map_of(uniform.weights, 0)}};
  for (Index h = 0; h < std::min<Index>(options.heads, 8); ++h) {
    maps.push_back({fmt::format("head {}", h), map_of(random.weights, h)});
  }
  book.maps(sentence("Attention weights of the heads with valid_lens = {}", valid),
            "The exercise's inputs are ones, so its weights are equal in all heads and its heat "
            "maps show only the mask. With random inputs every head has a different map.",
            query_names, key_names, maps);
  book.figure();

  const Array output = random.output.value().reshaped({queries, options.width});
  const double top = max_abs(output);
  Array positive(output.shape());
  for (Index i = 0; i < output.size(); ++i) {
    positive[i] = std::abs(output[i]) / Real(top);
  }
  const Index features = std::min<Index>(options.width, 16);
  for (Index c = 0; c < features; ++c) feature_names.push_back(fmt::format("f{}", c));
  book.maps(
      "|output| by query and feature",
      sentence("|output| divided by its maximum, {:,}. The exercise labels the features' axis "
               "\"Key positions\", but it is num_hiddens.",
               top),
      query_names, feature_names, {{"output", slice(positive, {1, 0, features})}});
}

void measure_heads(const LabOptions& options, const Attended& random, Notebook& book) {
  Notebook::Rows rows;
  std::vector<Measures> all;
  double l1_spread = 0;
  for (Index h = 0; h < options.heads; ++h) {
    const Measures m = measures_of(random, h);
    rows.push_back(
        {fmt::format("head {}", h), m.l1, m.l2, m.entropy, m.variance, m.output_variance});
    l1_spread = larger(l1_spread, std::abs(m.l1 - queries));
    all.push_back(m);
  }
  book.table(
      "Measures of each head's weights and output",
      "The solutions propose these measures: norms, entropy (in nats) and variance of a head's "
      "weights, and the variance of its output over the queries. Rows of weights sum to one, so "
      "their L1 norm is the number of queries for every head; their mean is the same, too, so the "
      "variance grows with the L2 norm. headroom train --task reverse "
      "--prune 4 ranks the heads of a trained model by E |dL/dgate|, shows the ranking on the page "
      "of its run and removes the last four.",
      {"", "L1", "L2", "entropy", "variance", "output variance"}, rows);
  book.at_most("largest |L1 norm of a head's weights - number of queries|", l1_spread,
               queries * same_values);
  Index ranked_otherwise = 0;
  for (const Measures& a : all) {
    for (const Measures& b : all) {
      ranked_otherwise += a.l2 < b.l2 && a.variance > b.variance + same_values;
    }
  }
  book.equal("pairs of heads that the L2 norm and the variance rank differently",
             double(ranked_otherwise), 0);
}

void run(const LabOptions& options, Notebook& book) {
  const NoGrad quiet;
  const Index width = options.width, heads = options.heads;
  Rng rng(options.seed, "d2l");
  const FusedHeads layer({.width = width, .heads = heads, .bias = false}, rng);
  const Ids valid_lens({1}, {valid});
  const Bytes kept = kept_keys(valid_lens, heads);

  // First the exercise itself, with all elements one; then random inputs, where the heads differ.
  const Attended uniform =
      attend(layer, Tensor(ones({1, queries, width})), Tensor(ones({1, pairs, width})), valid_lens);
  const Tensor x(normal({1, queries, width}, 2, rng)), y(normal({1, pairs, width}, 2, rng));
  const Attended random = attend(layer, x, y, valid_lens);
  show_shapes(options, x, y, random, book);
  show_maps(options, uniform, random, book);
  RowChecks row_checks;
  compare_with_book(layer, rng, row_checks, book);
  measure_heads(options, random, book);

  double from_third = 0;
  for (const Attended* out : {&uniform, &random}) row_checks.check(out->weights.value(), kept);
  for (Index i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    const auto w = double(uniform.weights.value()[i]);
    from_third = larger(from_third, std::abs(w - 1.0 / valid));
  }
  book.equal("largest weight of a key beyond valid_lens", row_checks.on_masked, 0);
  book.at_most("all ones: largest |weight - 1/3| of an allowed key", from_third, same_values);
  book.at_most("largest |sum of a row of weights - 1|", row_checks.off_one, same_values);
  book.answer(
      "The heads attend to the first valid_lens keys only: all other weights are exactly 0. Of the "
      "proposed measures of a head, the L1 norm of its weights is a constant, and the L2 norm and "
      "the variance rank the heads alike.",
      sentence("The layer computes the values and shapes of the book's code, {} and {}. The heat "
               "maps of the exercise are equal because its inputs are all ones.",
               random.output.shape().text(), random.weights.shape().text()));
}

}  // namespace d2l
}  // namespace

Experiment d2l_experiment() {
  return {
      .name = "d2l",
      .asked_in = "solutions to the exercises of Dive into Deep Learning, section 11.5",
      .title = "Which keys do the heads of d2l's exercise attend to?",
      .question =
          "Which keys do the heads attend to with 5 heads, 4 queries, 6 key-value pairs and "
          "valid_lens of 3, and how can one measure a head's importance?",
      .words = "visualize weights measure importance pruning valid_lens",
      .sentence =
          "The heads attend to the first valid_lens keys only, and with inputs of ones to each of "
          "these equally.",
      .computed =
          "The layer of the exercise without biases runs on ones, as in the exercise, and on "
          "random inputs. The dropout of 0.5 in the book's code acts in training only and is left "
          "out. It is compared with the book's code, which sets masked scores to -1e6 instead of "
          "skipping them, with valid_lens for each example and for each query. Then the measures "
          "of a head that the solutions list are computed.",
      .formulas =
          {"P_h = softmax(Q_h K_h^T / sqrt(D)) \"over the first valid_lens keys\"",
           "L_1 = sum_{ij} w_{ij} = \"number of queries\" n",
           "\"entropy\" = -{1}/{n} sum_{ij} w_{ij} log w_{ij}",
           "\"variance\" = {1}/{n m} L_2^2 - {1}/{m^2} \"for\" m \"keys: it grows with\" L_2",
           "\"output variance\" = \"mean over features of the variance of\" A_h \"over queries\""},
      .defaults = {.width = 10, .heads = 5},
      .limits = {},
      .run = d2l::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
