// head-count: the effect of the number of heads in a layer with the same parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/numbers.hpp"
#include "lab/saturation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace head_counts {

constexpr Index tokens = 12;  // the text's sequence, in a batch of one
constexpr int ones_draws = 400, scaled_draws = 10;

using Layers = std::vector<std::unique_ptr<FusedHeads>>;

/// Creates a layer for every number of heads; its parameters are set afterwards.
Layers layers_for(Index width, const std::vector<Index>& counts) {
  Layers layers;
  for (const Index heads : counts) {
    Rng rng(0);
    layers.push_back(
        std::make_unique<FusedHeads>(AttentionConfig{.width = width, .heads = heads}, rng));
  }
  return layers;
}

void set_weights(FusedHeads& layer, const Array& in, const Array& out) {
  layer.in_proj_weight.set_value(in.clone());
  layer.out_proj.weight.set_value(out.clone());
}

/// Shows the stages of the forward pass of a random layer; returns the difference from the layer.
double trace(const LabOptions& options, Notebook& book) {
  const NoGrad quiet;
  const Index width = options.width, heads = options.heads, d = options.head_dim();
  Rng rng(options.seed, "head-count trace");
  FusedHeads layer(AttentionConfig{.width = width, .heads = heads}, rng);
  const Tensor x(normal({1, tokens, width}, 1, rng));
  const auto third = [&](Index i) {
    return linear(x, slice(layer.in_proj_weight, 0, i * width, (i + 1) * width),
                  slice(layer.in_proj_bias, 0, i * width, (i + 1) * width));
  };
  const auto by_head = [&](const Tensor& y) {
    return permute(reshape(y, {tokens, heads, d}), {1, 0, 2});
  };
  const Tensor q = third(0), k = third(1), v = third(2);
  const Tensor q_heads = by_head(q), k_heads = by_head(k), v_heads = by_head(v);
  const Tensor scores = matmul(q_heads, transpose(k_heads)) / std::sqrt(Real(d));
  const Tensor weights = softmax(scores);
  const Tensor mixed = matmul(weights, v_heads);
  const Tensor side_by_side = reshape(permute(mixed, {1, 0, 2}), {1, tokens, width});
  const Tensor y = layer.out_proj(side_by_side);
  const auto text = [](const Tensor& t) { return t.shape().text(); };
  book.shapes(sentence("Shapes of the stages of attention; the scores are {}", text(scores)),
              "Each stage is computed separately. The scores have one row per query and one column "
              "per key for every head; the question gives them the shape of the queries.",
              {{"x", text(x), "batch, sequence, features"},
               {"Q, K, V", text(q), "x W^T + b: one product each, all heads at once"},
               {"Q_h, K_h, V_h", text(q_heads), "reshape and transpose: no value changes"},
               {"scores", text(scores), "Q_h K_h^T / sqrt(D): every query with every key"},
               {"weights", text(weights), "softmax over the keys"},
               {"A_h", text(mixed), "weights times V_h"},
               {"concatenated", text(side_by_side), "the heads side by side again"},
               {"y", text(y), "the output Linear mixes the heads"}});
  AttentionAsk ask;
  ask.maps = true;
  const AttentionOut whole = layer(x, x, x, AttentionMask::none(), ask);
  book.equal("the layer's maps have the shape [1, h, T, T] (1: yes)",
             whole.maps.shape() == Shape{1, heads, tokens, tokens}, 1);
  return relative_difference(y.value(), whole.y.value());
}

void parameter_table(const LabOptions& options, const std::vector<Index>& counts, Notebook& book) {
  Notebook::Rows rows;
  std::set<Index> different;
  const Layers layers = layers_for(options.width, counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    FusedHeads& layer = *layers[i];
    const Index h = counts[i], parameters = count_parameters(layer), scores = h * tokens * tokens;
    different.insert(parameters);
    rows.push_back({h, options.width / h, layer.in_proj_weight.shape().text(),
                    layer.out_proj.weight.shape().text(), parameters, scores,
                    Index(sizeof(Real)) * scores});
  }
  book.table(sentence("{:,} parameters for any number of heads", *different.begin()),
             sentence("The same matrices are split into more or fewer heads. The memory of the "
                      "scores, h T^2 elements for T = {}, grows with the number of heads.",
                      tokens),
             {"heads", "features per head", "in_proj_weight", "out_proj.weight", "parameters",
              "scores", "bytes of scores"},
             rows);
  book.equal("different parameter counts", double(different.size()), 1);
  book.equal("parameters, 4 C^2 + 4 C", double(*different.begin()),
             double(4 * options.width * (options.width + 1)));
}

bool same_bits(const Array& a, const Array& b) {
  return std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

/// The scores of a layer of ones by their formula, s_i s_j sqrt(D), s_i the sum of token i's
/// features: a list for each query i.
std::vector<std::vector<double>> scores_by_formula(const Tensor& x, Index d) {
  std::vector<double> sums(tokens, 0);
  for (Index i = 0; i < x.size(); ++i) {
    at(sums, i / x.dim(-1)) += double(x.value()[i]);
  }
  std::vector<std::vector<double>> scores;
  for (const double own : sums) {
    scores.emplace_back();
    for (const double sum : sums) {
      scores.back().push_back(own * sum * std::sqrt(double(d)));
    }
  }
  return scores;
}

/// Difference of the log-sum-exps of a layer of ones from those of the formula's scores: max
/// |difference| / max |value|.
double distance_from_formula(const Array& log_sum_exp,
                             const std::vector<std::vector<double>>& scores) {
  double most = 0, difference = 0;
  for (Index row = 0; row < log_sum_exp.size(); ++row) {
    const std::vector<double>& of_row = at(scores, row % tokens);
    const double top = largest(of_row);
    double rest = 0;
    for (const double score : of_row) rest += std::exp(score - top);
    const double formula = top + std::log(rest);
    most = larger(most, std::abs(formula));
    difference = larger(difference, std::abs(double(log_sum_exp[row]) - formula));
  }
  return difference / most;
}

/// Returns true if by the formula every query gives all its weight to one key: the maximum score is
/// so far above the second that every other weight, even rounded up, vanishes in a sum with 1.
bool picks_one_key(const std::vector<std::vector<double>>& scores) {
  constexpr double far_above = by_precision(45, 22);
  double sizes = 0;
  for (const auto& row : scores) {
    for (const double score : row) sizes = larger(sizes, std::abs(score));
  }
  const double rounding = sizes * by_precision(1e-13, 2e-6);  // of the scores themselves
  return std::all_of(scores.begin(), scores.end(), [&](std::vector<double> row) {
    std::sort(row.begin(), row.end(), std::greater<>());
    return row[0] - row[1] > far_above + rounding;
  });
}

/// Layers of ones with h heads and with one head on the same input.
struct Pair {
  bool equal;      // outputs, bit for bit
  bool saturated;  // every row of weights of both has a 1
  bool one_hot;    // every other weight of both is 0
  bool predicted;  // every query selects one key by the formula
  double from_formula;

  bool contradicts() const { return one_hot && !equal; }
  bool misses() const { return predicted && !equal; }
};

/// By the number of heads.
using Pairs = Grid<Index, Pair>;

Pairs ones_on(const std::function<Tensor(Rng&)>& draw_input, const char* stream,
              const LabOptions& options, const std::vector<Index>& counts, const Layers& layers) {
  AttentionAsk ask;
  ask.maps = ask.rows = true;
  return Pairs(counts, ones_draws, [&](std::uint64_t draw) {
    Rng rng(options.seed, stream, draw);
    const Tensor x = draw_input(rng);
    const AttentionOut single = (*layers[0])(x, x, x, AttentionMask::none(), ask);
    const Saturation of_single = saturation_of(single.maps.value());
    std::vector<Pair> found;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const AttentionOut several = (*layers[i])(x, x, x, AttentionMask::none(), ask);
      const Saturation of_several = saturation_of(several.maps.value());
      const auto scores = scores_by_formula(x, options.width / counts[i]);
      found.push_back({same_bits(several.y.value(), single.y.value()),
                       of_single.complete && of_several.complete,
                       of_single.one_hot && of_several.one_hot,
                       picks_one_key(scores),  // then so does one head: its scores are larger
                       distance_from_formula(several.rows.log_sum_exp, scores)});
    }
    return found;
  });
}

/// Tests layers of ones, as the text initialised them; returns the minimum number of draws with
/// uniform inputs in which h heads give the output of one.
Index all_ones(const LabOptions& options, const std::vector<Index>& counts, Notebook& book) {
  const NoGrad quiet;
  const Index width = options.width;
  const Layers layers = layers_for(width, counts);
  for (const auto& layer : layers) {
    set_weights(*layer, ones({3 * width, width}), ones({width, width}));
  }
  const Shape shape{1, tokens, width};
  const Pairs uniforms = ones_on([&](Rng& rng) { return Tensor(uniform_array(shape, rng)); },
                                 "ones uniform", options, counts, layers);
  const Pairs normals = ones_on([&](Rng& rng) { return Tensor(normal(shape, 1, rng)); },
                                "ones normal", options, counts, layers);
  Notebook::Rows rows;
  Index least = ones_draws, least_normal = ones_draws;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const Index equal = uniforms[i].count(&Pair::equal),
                equal_normal = normals[i].count(&Pair::equal);
    rows.push_back({counts[i], equal, uniforms[i].count(&Pair::saturated),
                    rate_interval(equal, ones_draws), equal_normal,
                    normals[i].count(&Pair::saturated), rate_interval(equal_normal, ones_draws)});
    least = std::min(least, equal);
    least_normal = std::min(least_normal, equal_normal);
  }
  const Survey<Pair> uniform = uniforms.all(), normal_ones = normals.all();
  book.table(
      sentence("With all weights one, uniform inputs give the same output in at least {} of {} "
               "draws, normal ones in at least {}",
               least, ones_draws, least_normal),
      sentence(
          "Equal: draws (of {}) in which the outputs of h heads and of one head are bitwise equal. "
          "Saturated: draws in which every row's largest weight is 1. Share: equal draws, with the "
          "95 % interval. With s_i the sum of token i's features, every query is s_i times a "
          "vector of ones, so the scores are s_i s_j sqrt(D), and their differences grow with the "
          "head's width. Every head selects the same key, the one with the largest s_j (the "
          "smallest if s_i is below 0).",
          ones_draws),
      {"heads", "uniform: equal", "uniform: saturated", "uniform: share", "normal: equal",
       "normal: saturated", "normal: share"},
      rows);
  book.at_most(
      "all ones: scores against s_i s_j sqrt(D), by the log-sum-exp of their rows",
      larger(uniform.largest(&Pair::from_formula), normal_ones.largest(&Pair::from_formula)),
      same_gradients);
  book.equal("all ones: draws with one-hot weights and different outputs",
             double(uniform.count(&Pair::contradicts) + normal_ones.count(&Pair::contradicts)), 0);
  book.equal("all ones: draws in which every query must select one key, and outputs differ",
             double(uniform.count(&Pair::misses) + normal_ones.count(&Pair::misses)), 0);
  if (width == 512) {
    book.more_than("all ones, uniform inputs: draws in which every query must select one key",
                   double(uniform.count(&Pair::predicted)), 0);
  }
  return least;
}

/// max |y_1 - y_h|, and the same over max |y|.
struct Difference {
  double absolute, relative;
};

/// The differences from one head in several draws, for every number of heads above 1.
template <class Weights>
Grid<Index, Difference> differences(const LabOptions& options, const std::vector<Index>& counts,
                                    const char* stream, const Weights& weights) {
  const NoGrad quiet;
  const Layers layers = layers_for(options.width, counts);
  return {{counts.begin() + 1, counts.end()}, scaled_draws, [&](std::uint64_t draw) {
            Rng rng(options.seed, stream, draw);
            const auto [in, out, x] = weights(rng);
            std::vector<Array> outputs;
            for (const auto& layer : layers) {
              set_weights(*layer, in, out);
              outputs.push_back((*layer)(x, x, AttentionMask::none()).value());
            }
            std::vector<Difference> seen;
            for (std::size_t i = 1; i < outputs.size(); ++i) {
              seen.push_back({largest_difference(outputs[0], outputs[i]),
                              relative_difference(outputs[0], outputs[i])});
            }
            return seen;
          }};
}

struct Draw {
  Array in, out;
  Tensor x;
};

void run(const LabOptions& options, Notebook& book) {
  const Index width = options.width;
  const std::vector<Index> counts = counts_of_heads(width, 16, options.heads);
  const double traced = trace(options, book);
  book.at_most("stages computed separately against the layer, relative difference", traced,
               same_values);
  parameter_table(options, counts, book);
  const Index equal = all_ones(options, counts, book);

  const Real scale = Real(8) / Real(width);  // 1/64 for 512 features
  const auto scaled = differences(options, counts, "head-count scaled", [&](Rng& rng) {
    return Draw{Array({3 * width, width}, scale), Array({width, width}, scale),
                Tensor(uniform_array({1, tokens, width}, rng))};
  });
  const auto random = differences(options, counts, "head-count random", [&](Rng& rng) {
    const Real deviation = 1 / std::sqrt(Real(width));
    return Draw{normal({3 * width, width}, deviation, rng), normal({width, width}, deviation, rng),
                Tensor(normal({1, tokens, width}, 1, rng))};
  });
  const auto scaled_line =
      scaled.series("all weights 8/C, uniform inputs", as_it_is, &Difference::absolute);
  const auto random_line =
      random.series("weights N(0, 1/C), normal inputs", as_it_is, &Difference::absolute);
  Notebook::Rows rows = scaled.rows(as_it_is, &Difference::absolute);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].emplace_back(random[i].mean(&Difference::absolute));
  }
  const std::string about =
      fmt::format("Largest |y_1 - y_h| of a batch of one with {} tokens; mean of {} draws.", tokens,
                  scaled_draws);
  book.chart("Difference from the output of one head by number of heads", about, "heads",
             "difference", true, {scaled_line, random_line});
  book.figure();
  book.table("Difference from the output of one head, with 95 % intervals", about,
             {"heads", scaled_line.name, random_line.name}, rows);
  book.more_than("scaled ones: smallest mean relative difference from one head, beyond rounding",
                 smallest(scaled.by_case(&Difference::relative)), same_values);
  book.more_than("random weights: smallest mean relative difference from one head",
                 smallest(random.by_case(&Difference::relative)), 1e-2);
  if (width == 512) {
    book.within("scaled ones (1/64): mean largest difference between 1 and 8 heads",
                scaled.of(8).mean(&Difference::absolute).value, 0.03, 0.3);
  }
  const Text ones_text =
      2 * equal > ones_draws
          ? Text(
                "With all weights one this is hidden: the scores differ so much that softmax "
                "saturates and selects the same key in every head")
          : sentence(
                "With {} features and all weights one, the output is the same in at least {} "
                "of {} draws",
                width, equal, ones_draws);
  book.answer(sentence("The number of heads does not change the number of parameters, {:,}, but it "
                       "changes the output, because every head has a separate softmax. {}.",
                       4 * width * (width + 1), ones_text),
              "With smaller or random weights the outputs differ for every number of heads.");
}

}  // namespace head_counts
}  // namespace

Experiment head_count_experiment() {
  return {
      .name = "head-count",
      .asked_in = "a question on nn.MultiheadAttention(512, heads)",
      .title = "Does the number of heads change parameters or output?",
      .question =
          "Do the heads of nn.MultiheadAttention(512, heads) compute another function for another "
          "number of heads, with as many parameters?",
      .words = "multiple many more parameters weights num_heads",
      .sentence =
          "The number of heads changes the output, not the number of parameters, because every "
          "head has its own softmax; weights of 1 hide it, since they saturate the softmax.",
      .computed =
          "A forward pass runs stage by stage with its shapes, and the parameters are counted for "
          "1 to 16 heads. Then layers with the same weights and different numbers of heads run on "
          "the same inputs. The weights are all one, as in the question, all 8/C (1/64 for 512 "
          "features), or random.",
      .formulas = {"\"parameters\" = 3 C^2 + 3 C + C^2 + C, \"without\" h",
                   "\"scores with all weights one\" = s_i s_j sqrt(D), s_i = sum_c x_{ic}",
                   "\"memory of the scores\" = h T^2 \"elements\""},
      .defaults = {.width = 512, .heads = 2},
      .limits = {.least_heads = 2, .most_heads = 32},
      .run = head_counts::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
