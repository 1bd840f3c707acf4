// init: the initial size of the weights depends on the matrix to which Xavier's rule is applied.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace initialisation {

constexpr Index tokens = 32, most_heads = 64;
constexpr int draws = 5;

struct Policy {
  FanPolicy policy;
  const char* name;
  const char* matrix;
};
constexpr Policy policies[] = {{FanPolicy::packed, "packed", "[3C, C]"},
                               {FanPolicy::per_matrix, "per matrix", "[C, C]"},
                               {FanPolicy::per_head, "per head", "[D, C]"}};
constexpr std::size_t packed = 0, per_matrix = 1, per_head = 2;

/// C times Xavier's variance 2 / (fan_in + fan_out), by the formula.
double scaled_variance(FanPolicy policy, Index width, Index heads) {
  Index fan_out = width;
  if (policy == FanPolicy::packed) fan_out = 3 * width;
  if (policy == FanPolicy::per_head) fan_out = width / heads;
  return 2 * double(width) / double(width + fan_out);
}

/// The statistics of one drawn layer on inputs N(0, 1).
struct Seen {
  double weight_variance = 0;  // times C, of W_Q, W_K and W_V
  double logit_square = 0;     // mean of s^2
  double row_maximum = 0;      // mean over the rows of attention
  Array logits, maxima;        // [H, T, T], [1, H, T]
  double logit_deviation() const { return std::sqrt(logit_square); }
};

Seen look_at(FanPolicy policy, Index width, Index heads, std::uint64_t seed, std::uint64_t draw) {
  const NoGrad quiet;
  Rng weights(seed, "init", draw), inputs(seed, "init inputs", draw);
  const FusedHeads layer({.width = width, .heads = heads, .bias = false, .init = policy}, weights);
  const Tensor x(normal({1, tokens, width}, 1, inputs));
  const auto by_head = [&](Index third) {
    const Tensor weight = slice(layer.in_proj_weight, 0, third * width, (third + 1) * width);
    return permute(reshape(linear(x, weight), {tokens, heads, width / heads}), {1, 0, 2});
  };
  const Tensor q = by_head(0), k = by_head(1);
  Seen seen;
  seen.logits = (matmul(q, transpose(k)) / std::sqrt(Real(width / heads))).value();
  seen.logit_square = inner(seen.logits, seen.logits) / double(seen.logits.size());
  AttentionAsk ask;
  ask.rows = true;
  seen.maxima = layer(x, x, x, AttentionMask::none(), ask).rows.maximum;
  for (const Real m : seen.maxima.span()) {
    seen.row_maximum += double(m) / double(seen.maxima.size());
  }
  const Array& w = layer.in_proj_weight.value();
  seen.weight_variance = double(width) * inner(w, w) / double(w.size());
  return seen;
}

/// Relative tolerance of the mean of n squared uniform numbers: squares of a uniform weight are in
/// [0, 3 variances], so Hoeffding's inequality gives the bound for a probability of 1e-9 and any n.
double variance_tolerance(Index n) { return 3 * std::sqrt(std::log(2e9) / (2 * double(n))); }

/// The standard error of the mean of s^2 over all draws, as a share of it. With rho = tr(G^2) /
/// tr(G)^2 = (C + T + 1) / (C T) for the inputs' products G = X X^T, |Q_h K_h^T|^2 has the relative
/// variance (4 rho + 4 rho^2 + 2 (D - 1) rho^2) / D for given inputs; tr(G)^2 itself has 8 / (C T).
double logit_standard_error(Index width, Index heads) {
  const auto c = double(width), t = double(tokens), h = double(heads), d = c / h;
  const double rho = (c + t + 1) / (c * t);
  const double of_a_head = (4 * rho + 4 * rho * rho + 2 * (d - 1) * rho * rho) / d;
  return std::sqrt((of_a_head / h + 8 / (c * t)) / draws);
}

/// max |a - factor b| / max |a|
double distance_from_multiple(const Array& a, double factor, const Array& b) {
  double most = 0;
  for (Index i = 0; i < a.size(); ++i) {
    most = larger(most, std::abs(double(a[i]) - factor * double(b[i])));
  }
  return most / max_abs(a);
}

/// Number of rows of attention whose maximum is smaller than in `before` by more than rounding, or
/// NaN.
Index rows_that_fell(const Array& before, const Array& after) {
  Index count = 0;
  for (Index i = 0; i < before.size(); ++i) {
    const double least = (1 - same_values) * double(before[i]);
    count += !(double(after[i]) >= least);
  }
  return count;
}

/// Difference of the layouts' initial weights under a policy, from the same seed.
double distance_of_layouts(FanPolicy policy, const LabOptions& options) {
  const AttentionConfig config{.width = options.width, .heads = options.heads, .init = policy};
  Rng a(options.seed, "init"), b(options.seed, "init");
  const auto separate = make_attention(Layout::separate, config, a),
             fused = make_attention(Layout::fused, config, b);
  return parameter_distance(*separate, *fused).largest;
}

using AllDraws = Grid<Policy, Seen>;

void policy_table(const LabOptions& options, const AllDraws& all, Notebook& book) {
  const std::vector<double> found = all.by_case(&Seen::logit_deviation);
  const auto formula = [&](const Policy& p) {
    return scaled_variance(p.policy, options.width, options.heads);
  };
  book.table(sentence("Initial standard deviation of the logits: {:.2f}, {:.2f} and {:.2f}",
                      found[packed], found[per_matrix], found[per_head]),
             sentence("W_Q, W_K and W_V by Xavier's rule, {} tokens N(0, 1), mean of {} draws "
                      "with 95 % intervals. Logits are q k / sqrt(D): their standard deviation "
                      "is C times the weights' variance. Last column: mean over the rows of "
                      "their largest weight; uniform attention has {:.3g}.",
                      tokens, draws, 1.0 / double(tokens)),
             {"policy", "matrix", "variance x C, formula", "measured", "logits, std",
              "largest weight of a row"},
             all.rows(&Policy::name, &Policy::matrix, formula, &Seen::weight_variance,
                      &Seen::logit_deviation, &Seen::row_maximum));
}

void libraries(const LabOptions& options, Notebook& book) {
  const auto c = double(options.width), h = double(options.heads), d = double(options.head_dim());
  const double chosen = 0.02 * 0.02 * c;
  const auto xavier = [&](std::size_t p) {
    return scaled_variance(policies[p].policy, options.width, options.heads);
  };
  book.table(
      "Initial variance times C in other libraries",
      "Of W_Q and W_K, by each library's formula for this width and number of heads; it is also "
      "the standard deviation of the logits on inputs N(0, 1). Rules by the fan-in alone, and "
      "fixed standard deviations, give the same in every layout.",
      {"library", "rule", "variance x C"},
      {{"PyTorch, nn.MultiheadAttention", "Xavier on in_proj_weight [3C, C]", xavier(packed)},
       {"the same with other kdim or vdim", "Xavier on each [C, C]", xavier(per_matrix)},
       {"fairseq", "Xavier on each [C, C] with gain 1/sqrt(2): as packed", xavier(per_matrix) / 2},
       {"The Annotated Transformer", "Xavier on each [C, C]", xavier(per_matrix)},
       {"one Linear per head and Xavier", "Xavier on each [D, C]", xavier(per_head)},
       {"Keras, MultiHeadAttention", "Xavier on [C, H, D], taken as a convolution: 2 / (C H + C D)",
        2 / (h + d)},
       {"Flax, MultiHeadDotProductAttention", "LeCun, 1 / fan_in", 1.0},
       {"nn.Linear's default", "uniform, 1 / (3 fan_in)", 1.0 / 3},
       {"BERT, GPT-2", "normal, standard deviation 0.02", chosen}});
}

void charts(const LabOptions& options, std::uint64_t seed, Notebook& book) {
  const std::vector<Index> counts = counts_of_heads(options.width, most_heads, options.heads);
  std::vector<Notebook::Series> deviation, maxima;
  for (const Policy& policy : policies) {
    const Grid<Index, Seen> seen(counts, draws, [&](Index heads, auto draw) {
      return look_at(policy.policy, options.width, heads, seed, draw);
    });
    deviation.push_back(seen.series(policy.name, as_it_is, &Seen::logit_deviation));
    maxima.push_back(seen.series(policy.name, as_it_is, &Seen::row_maximum));
  }
  Notebook::Series formula{"per head, 2H / (H + 1)", {}}, even{"uniform attention, 1 / T", {}};
  for (const Index heads : counts) {
    const auto at = double(heads);
    formula.points.emplace_back(at, 2 * at / (at + 1));
    even.points.emplace_back(at, 1.0 / double(tokens));
  }
  deviation.push_back(formula);
  maxima.push_back(even);
  const std::string about = fmt::format("Mean of {} draws with {} tokens.", draws, tokens);
  const auto ends = [&](std::size_t p) {
    return sentence("from {:.2f} to {:.2f}", deviation[p].points.front().second,
                    deviation[p].points.back().second);
  };
  book.chart(sentence("From one head to {:.0f}: {} per head, {} packed, {} per matrix",
                      deviation[packed].points.back().first, ends(per_head), ends(packed),
                      ends(per_matrix)),
             "Standard deviation of the logits by number of heads. " + about, "heads",
             "standard deviation of the logits", false, deviation);
  book.figure();
  book.chart(sentence("Initial largest weight of a row: {:.2f} packed, {:.2f} per head",
                      maxima[packed].points.back().second, maxima[per_head].points.back().second),
             sentence("Mean over the rows of their largest weight by number of heads. The title "
                      "gives the values at {:.0f} heads. ",
                      maxima[packed].points.back().first) +
                 about,
             "heads", "largest weight of a row", false, maxima);
}

void claims(const LabOptions& options, const AllDraws& all, Notebook& book) {
  const Index c = options.width, h = options.heads, weights = draws * 3 * c * c;
  const double variance_share = variance_tolerance(weights);
  const double logit_share = 8 * logit_standard_error(c, h);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const double v = scaled_variance(policies[p].policy, c, h);
    book.within(
        fmt::format("{}: weights' variance x C, {:.3g} by the formula", policies[p].name, v),
        all[p].mean(&Seen::weight_variance).value, v * (1 - variance_share),
        v * (1 + variance_share));
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    // Tokens also attend to themselves, and E |x|^4 = C^2 + 2 C.
    const double v = scaled_variance(policies[p].policy, c, h);
    const double square = v * v * (1 + 2 / double(c * tokens));
    book.within(fmt::format("{}: root mean square of the logits, {:.3g} by the formula, 8 standard "
                            "errors",
                            policies[p].name, std::sqrt(square)),
                std::sqrt(all[p].mean(&Seen::logit_square).value),
                std::sqrt(square * std::max(0.0, 1 - logit_share)),
                std::sqrt(square * (1 + logit_share)));
  }
  double not_multiple = 0, layouts = 0;
  Index fell = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    const Seen &base = all[per_matrix].samples()[i], &small = all[packed].samples()[i],
               &large = all[per_head].samples()[i];
    const double growth = scaled_variance(FanPolicy::per_head, c, h);
    for (const double distance : {distance_from_multiple(small.logits, 0.5, base.logits),
                                  distance_from_multiple(large.logits, growth, base.logits)}) {
      not_multiple = larger(not_multiple, distance);
    }
    fell += rows_that_fell(small.maxima, base.maxima) + rows_that_fell(base.maxima, large.maxima);
  }
  for (const Policy& policy : policies) {
    layouts = larger(layouts, distance_of_layouts(policy.policy, options));
  }
  // Weights are rounded to float in both precisions, so that both start with the same values.
  book.at_most("packed and per head: logits against 0.5 and 2H / (H + 1) times those per matrix",
               not_multiple, 5e-6);
  book.equal("rows whose largest weight falls from packed to per matrix, or from there to per head",
             double(fell), 0);
  book.equal("separate against fused heads from the same seed, all policies: largest difference",
             layouts, 0);
}

void run(const LabOptions& options, Notebook& book) {
  const AllDraws all({std::begin(policies), std::end(policies)}, draws,
                     [&](const Policy& one, auto draw) {
                       return look_at(one.policy, options.width, options.heads, options.seed, draw);
                     });
  policy_table(options, all, book);
  charts(options, options.seed, book);
  libraries(options, book);
  claims(options, all, book);
  book.answer(
      sentence("Yes: the variance depends on the fan-out of the stored matrix, which is 3C, C or "
               "D. With {} heads and a width of {} the initial standard deviation of the logits is "
               "{:.2f} (packed, as in PyTorch), {:.2f} (per matrix) or {:.2f} (per head).",
               options.heads, options.width, all[packed].mean(&Seen::logit_deviation).value,
               all[per_matrix].mean(&Seen::logit_deviation).value,
               all[per_head].mean(&Seen::logit_deviation).value),
      sentence("The mean largest weight of a row is {:.2f}, {:.2f} or {:.2f}. A comparison of "
               "layouts must use one rule for all. Here the rule is an option of the layer, and "
               "both layouts start with the same weights under each rule.",
               all[packed].mean(&Seen::row_maximum).value,
               all[per_matrix].mean(&Seen::row_maximum).value,
               all[per_head].mean(&Seen::row_maximum).value));
}

}  // namespace initialisation
}  // namespace

Experiment init_experiment() {
  return {
      .name = "init",
      .title = "Does Xavier initialisation depend on the layout?",
      .question =
          "Does the variance that Xavier's rule gives the weights of query, key and value depend "
          "on whether they are one packed matrix, three, or three per head?",
      .computed =
          "Layers are drawn under three policies, which choose the matrix to which the rule is "
          "applied. For each policy and number of heads, the variance of the weights, the "
          "standard deviation of the logits and the largest weight of every row of attention "
          "are measured and compared with formulas.",
      .formulas =
          {"\"Xavier: variance\" = {2}/{\"fan_in\" + \"fan_out\"}",
           "\"variance\" . C = 0.5 \"(packed),\" 1 \"(per matrix),\" {2H}/{H + 1} \"(per head)\"",
           "E s^2 = (\"variance\" . C)^2 (1 + {2}/{C T}) \"for inputs\" N(0, 1)"},
      .defaults = {.width = 512, .heads = 8},
      .limits = {.least_heads = 2, .most_heads = 64},
      .run = initialisation::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
