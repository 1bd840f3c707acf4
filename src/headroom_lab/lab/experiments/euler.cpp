// euler: equations between the gradients of attention, under every kind of mask and gate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/attention_derivation.hpp"
#include "lab/mask_kinds.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace euler {

constexpr Index batch = 3, tokens = 6;

/// <a, b>, and the sum of |a_i b_i|, which is the scale of its rounding.
struct Inner {
  double value = 0, size = 0;
  void add(double a, double b) {
    value += a * b;
    size += std::abs(a * b);
  }
  void add(const Inner& other) {
    value += other.value;
    size += other.size;
  }
};

void add_all(const Array& a, const Array& b, Inner& sum) {
  for (Index i = 0; i < a.size(); ++i) {
    sum.add(double(a[i]), double(b[i]));
  }
}

/// One value for each head; SharedHead's projections have one for all heads together.
using ByHead = std::vector<Inner>;

Inner total(const ByHead& numbers) {
  Inner sum;
  for (const Inner& one : numbers) sum.add(one);
  return sum;
}

/// Difference of two of them relative to the size of `terms` (of the rows, before sums over rows
/// cancel): the maximum over heads, or of the sums over heads where one of the two has no heads.
double residual(const ByHead& a, const ByHead& b, const ByHead& terms) {
  if (a.size() != b.size()) return residual({total(a)}, {total(b)}, {total(terms)});
  double worst = 0;
  for (std::size_t h = 0; h < a.size(); ++h) {
    const double size = larger(a[h].size, larger(b[h].size, terms[h].size));
    if (size != 0) worst = larger(worst, std::abs(a[h].value - b[h].value) / size);
  }
  return worst;
}

/// The terms of the identities for one forward and backward pass.
struct Terms {
  ByHead gate;               // g dL/dg; empty without gates
  ByHead output, head_out;   // <W_O, dW_O>, sum A . dL/dA
  ByHead value, query, key;  // <W, dW> + <b, db>
  ByHead value_bias;         // <b_V, db_V> alone
  ByHead scores;             // <S, dS>
  ByHead slopes;             // sum of dL/dg; its size is sum |dL/dg|
};

/// <W, dW> of the slices with one of two roles: for each head, or one number when all share them.
ByHead products(Attention& layer, HeadRole weight, HeadRole bias) {
  const Index heads = layer.config().heads;
  ByHead sums(static_cast<std::size_t>(heads));
  bool of_all = false;
  for (const HeadSlice& part : layer.head_slices()) {
    if (part.role != weight && part.role != bias) continue;
    of_all = of_all || part.head == HeadSlice::of_all;
    const Tensor parameter = parameter_named(layer, part.name);
    add_all(slice(parameter.value(), part), slice(parameter.grad(), part),
            at(sums, std::max<Index>(part.head, 0)));
  }
  if (of_all) sums.resize(1);
  return sums;
}

/// sum a . b by head, both [B, H, ...].
ByHead by_head(const Array& a, const Array& b) {
  const Index heads = a.dim(1), inner = a.size() / (a.dim(0) * heads);
  ByHead sums(static_cast<std::size_t>(heads));
  for (Index i = 0; i < a.size(); ++i) at(sums, i / inner % heads).add(double(a[i]), double(b[i]));
  return sums;
}

/// <S, dS> by head from the tape's arrays: S = log P + log-sum-exp of its row, and dS by the
/// Jacobian of softmax. A weight of 0 belongs to a masked key, where dS is 0.
ByHead score_products(const Array& weights, const Array& d_weights, const Array& log_sum_exp) {
  const Array d_scores = softmax_backward(weights, d_weights);
  const Index heads = weights.dim(1), keys = weights.dim(3);
  ByHead sums(static_cast<std::size_t>(heads));
  for (Index i = 0; i < weights.size(); ++i) {
    const auto p = double(weights[i]);
    if (p == 0) continue;
    at(sums, i / (weights.dim(2) * keys) % heads)
        .add(std::log(p) + double(log_sum_exp[i / keys]), double(d_scores[i]));
  }
  return sums;
}

/// Terms of gates [H], [B, H] or [B, H, Tq].
void gate_terms(const Tensor& gates, Terms& terms) {
  const Shape shape = gates.rank() == 1 ? Shape{1, gates.size()} : gates.shape();
  const Array slopes = gates.grad().reshaped(shape);
  terms.gate = by_head(gates.value().reshaped(shape), slopes);
  terms.slopes = by_head(ones(shape), slopes);
}

struct Problem {
  std::unique_ptr<Attention> layer;
  Array x, cotangent;
};

/// Gradients of <cotangent, y>, by the fused operation, as in training, for parameters and gates,
/// and by the composed one for A, P and their gradients, which only it provides.
Terms terms_of(const Problem& problem, const AttentionMask& mask, const Array& gate_values) {
  Attention& layer = *problem.layer;
  const Tensor x(problem.x);
  const auto gates = [&] {
    return gate_values.defined() ? parameter(gate_values.clone()) : Tensor();
  };
  Terms terms;
  zero_grad(layer);
  AttentionAsk ask;
  ask.gates = gates();
  layer(x, x, x, mask, ask).y.backward(problem.cotangent);
  if (ask.gates.defined()) gate_terms(ask.gates, terms);
  terms.output = products(layer, HeadRole::output, HeadRole::output);
  terms.value = products(layer, HeadRole::value, HeadRole::value_bias);
  terms.value_bias = products(layer, HeadRole::value_bias, HeadRole::value_bias);
  terms.query = products(layer, HeadRole::query, HeadRole::query_bias);
  terms.key = products(layer, HeadRole::key, HeadRole::key_bias);

  ask = {.maps = true, .head_out = true, .rows = true, .gates = gates()};
  AttentionOut seen = layer(x, x, x, mask, ask);
  seen.maps.retain_grad();
  seen.head_out.retain_grad();
  seen.y.backward(problem.cotangent);
  terms.head_out = by_head(seen.head_out.value(), seen.head_out.grad());
  terms.scores = score_products(seen.maps.value(), seen.maps.grad(), seen.rows.log_sum_exp);
  return terms;
}

/// A layer with weights N(0, 1/C) and biases N(0, 1), an input, and dL/dy.
Problem draw(Layout layout, const LabOptions& options, Rng& rng) {
  Problem problem{
      make_attention(layout, {.width = options.width, .heads = options.heads}, rng), {}, {}};
  for (NamedParameter& parameter : parameters(*problem.layer)) {
    const Shape& shape = parameter.tensor.shape();
    const Real fan_in = shape.rank() == 2 ? Real(shape[1]) : 1;
    parameter.tensor.set_value(normal(shape, 1 / std::sqrt(fan_in), rng));
  }
  problem.x = normal({batch, tokens, options.width}, 1, rng);
  problem.cotangent = normal({batch, tokens, options.width}, 1, rng);
  return problem;
}

struct Gates {
  std::string name;
  Array values;  // undefined: none
};

/// No gates, and one of every form that attention takes; head 0 is closed in the second.
std::vector<Gates> every_gate_kind(Index heads, Rng& rng) {
  Array per_head = normal({heads}, 1, rng);
  per_head[0] = 0;
  return {{"none", {}},
          {"per head", per_head},
          {"per example", normal({batch, heads}, 1, rng)},
          {"per row", normal({batch, heads, tokens}, 1, rng)}};
}

constexpr double no_gates = -1;  // in place of the first equation's residual

/// Names of the five equations, whose residuals are measured.
constexpr const char* equations[] = {"gate = W_O", "W_V = W_O", "A = W_O", "W_Q = S", "W_K = S"};

std::vector<double> residuals(const Terms& t) {
  const auto to_output = [&](const ByHead& a) { return residual(a, t.output, t.head_out); };
  const auto to_scores = [&](const ByHead& a) { return residual(a, t.scores, t.scores); };
  return {t.gate.empty() ? no_gates : to_output(t.gate), to_output(t.value), to_output(t.head_out),
          to_scores(t.query), to_scores(t.key)};
}

/// The findings in one layout.
struct Found {
  double worst_output = 0, worst_scores = 0;  // residuals of the first three, of the last two
  std::vector<double> bias_shares;            // of <b_V, db_V> in the values' term
  Index cases = 0;
  Notebook::Rows rows;
};

Found examine(Layout layout, const LabOptions& options, Rng& rng) {
  const Problem problem = draw(layout, options, rng);
  Found found;
  for (const NamedMask& masked : every_mask_kind(batch, options.heads, tokens, tokens, rng)) {
    for (const Gates& gates : every_gate_kind(options.heads, rng)) {
      const Terms terms = terms_of(problem, masked.mask, gates.values);
      const std::vector<double> apart = residuals(terms);
      std::vector<Value> row{masked.name, gates.name};
      for (std::size_t e = 0; e < apart.size(); ++e) {
        row.push_back(apart[e] == no_gates ? Value() : Value(apart[e]));
        double& worst = e < 3 ? found.worst_output : found.worst_scores;
        worst = larger(worst, apart[e]);
      }
      for (std::size_t h = 0; h < terms.value_bias.size(); ++h) {
        const double bias = terms.value_bias[h].value, weight = terms.value[h].value - bias;
        if (bias == 0) continue;  // no bias, or a closed gate
        found.bias_shares.push_back(std::abs(bias) / (std::abs(bias) + std::abs(weight)));
      }
      found.rows.push_back(std::move(row));
      ++found.cases;
    }
  }
  return found;
}

/// The terms of head 0 of a causal fused layer with gates, and why they are equal.
struct Derivation {
  Notebook::Rows rows;
  double worst = 0;  // residual of all equations
};

Derivation derivation(const LabOptions& options, Rng& rng) {
  const Problem problem = draw(Layout::fused, options, rng);
  const Array gates = normal({options.heads}, 1, rng);
  const Terms t = terms_of(problem, AttentionMask::causal(), gates);
  const Notebook::Rows rows{
      {"g dL/dg", "y is linear in g_h", t.gate[0].value},
      {"<W_O, dW_O>", "and in W_O^h", t.output[0].value},
      {"sum A . dA", "and in A_h", t.head_out[0].value},
      {"<W_V, dW_V> + <b_V, db_V>", "and A_h = P_h (x W_V^h + b_V^h) in these", t.value[0].value},
      {"<S, dS>", "P_h depends on S_h alone", t.scores[0].value},
      {"<W_Q, dW_Q> + <b_Q, db_Q>", "S_h = Q_h K_h^T / sqrt(D) is linear in Q_h = x W_Q^h + b_Q^h",
       t.query[0].value},
      {"<W_K, dW_K> + <b_K, db_K>", "and in K_h = x W_K^h + b_K^h", t.key[0].value}};
  return {rows, largest(residuals(t))};
}

/// Two published scores of the same heads, and their differences.
struct Scores {
  Notebook::Rows rows;
  double difference = 0;  // of <W_O, dW_O> and the gate's gradient, relative to their terms
  double by_example = 0;  // of Michel's score and the slope of the whole batch, over the former
};

Scores importance_scores(const LabOptions& options, Rng& rng) {
  const Problem problem = draw(Layout::fused, options, rng);
  const Terms t = terms_of(problem, AttentionMask::none(), ones({batch, options.heads}));
  Scores scores;
  scores.difference = residual(t.gate, t.output, t.head_out);
  for (std::size_t h = 0; h < t.gate.size(); ++h) {
    scores.rows.push_back({fmt::format("head {}", h), std::abs(t.output[h].value),
                           std::abs(t.gate[h].value), t.slopes[h].size});
    scores.by_example = larger(scores.by_example, 1 - std::abs(t.gate[h].value) / t.slopes[h].size);
  }
  return scores;
}

void run(const LabOptions& options, Notebook& book) {
  const Layout layouts[] = {Layout::separate, Layout::fused, Layout::shared};
  std::vector<Found> all;
  for (const Layout layout : layouts) {
    Rng rng(options.seed, "euler", std::uint64_t(layout));
    all.push_back(examine(layout, options, rng));
  }
  Rng rng(options.seed, "euler of one head");
  const Derivation terms = derivation(options, rng);
  const Scores scores = importance_scores(options, rng);

  book.table("The seven terms of the equations for one head",
             "Head 0 of a fused layer, y = sum_h g_h A_h W_O^h + b_O, under a causal mask, with "
             "random gates and a random cotangent. Where a function is linear in w, <w, dL/dw> is "
             "the slope of L when w is scaled (Euler's theorem on homogeneous functions). By the "
             "equations the first four terms are equal, and the last three.",
             {"term", "why", "value"}, terms.rows);
  book.figure();
  std::vector<std::string> columns{"mask", "gates"};
  columns.insert(columns.end(), std::begin(equations), std::end(equations));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Found& found = all[i];
    book.table(
        sentence("{}: {} cases, largest difference {:,}", name_of(layouts[i]), found.cases,
                 larger(found.worst_output, found.worst_scores)),
        layouts[i] == Layout::shared
            ? "All heads share W_Q, W_K and W_V, so their equations hold summed over heads. "
              "|difference| over the sum of the terms' absolute values."
            : "Each equation's largest difference over the heads: |difference| over the sum of the "
              "terms' absolute values. The first equation needs gates.",
        columns, found.rows);
  }
  book.table("Two published importance scores of the same heads",
             "|<W_O, dL/dW_O>| is TextPruner's score of a head. It equals |dL/dg|, the slope of "
             "its gate, when all gates are 1. Michel et al. take |dL/dg| of each example before "
             "they sum, so that slopes of different signs do not cancel. The equations also test "
             "gradients, in one pass and without finite differences.",
             {"", "|<W_O, dW_O>|", "|dL/dg|, whole batch", "|dL/dg|, summed by example"},
             scores.rows);

  Index cases = 0;
  std::vector<double> bias_shares;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = name_of(layouts[i]);
    book.at_most(
        name + ": g dL/dg, <W_O, dW_O>, sum A . dA and the values' term, largest difference",
        all[i].worst_output, same_gradients);
    book.at_most(name + ": the queries' term, the keys' term and <S, dS>, largest difference",
                 all[i].worst_scores, same_gradients);
    cases += all[i].cases;
    bias_shares.insert(bias_shares.end(), all[i].bias_shares.begin(), all[i].bias_shares.end());
  }
  book.at_most("terms of one head, largest difference", terms.worst, same_gradients);
  book.at_most("TextPruner's score against the slope of the gate", scores.difference,
               same_gradients);
  // Gradients of one sign do not cancel; among many heads some have gradients of both signs.
  if (options.heads >= 8) {
    book.more_than("1 - |slope of the whole batch| / sum by example, maximum over the heads",
                   scores.by_example, 0.01);
  }
  book.at_least("share of <b_V, db_V> in the values' term, mean", mean_interval(bias_shares).value,
                0.05);
  book.answer(
      sentence(
          "Yes: scaling a head's gate, its W_O, its output or its values changes the loss at the "
          "same rate, and so does scaling its queries, its keys or its scores. This holds up to "
          "rounding in all {} cases of layout, mask and gates (in the shared layer for the sum "
          "over heads).",
          cases),
      "Training drives these rates to zero, but not the cost of removing the head: see the "
      "experiment importance-over-training.");
}

}  // namespace euler
}  // namespace

Experiment euler_experiment() {
  return {.name = "euler",
          .title = "Which gradients of a head must agree?",
          .question =
              "Are there equations between the gradients of a head's W_Q, W_K, W_V, W_O and gate "
              "that hold for every mask, gate and loss?",
          .computed =
              "Attention runs in each layout with random weights, biases, input and cotangent, "
              "under every kind of mask and gate. The gradients of parameters and gates come from "
              "the fused operation; A, P and their gradients come from the composed one. Every "
              "inner product of a tensor with its gradient is summed in double.",
          .formulas = {"g_h {dL}/{dg_h} = <W_O^h, {dL}/{dW_O^h}> = sum A_h . {dL}/{dA_h}",
                       "= <W_V^h, {dL}/{dW_V^h}> + <b_V^h, {dL}/{db_V^h}>",
                       "<W_Q^h, {dL}/{dW_Q^h}> + <b_Q^h, {dL}/{db_Q^h}> = <S_h, {dL}/{dS_h}>",
                       "= <W_K^h, {dL}/{dW_K^h}> + <b_K^h, {dL}/{db_K^h}>",
                       "A_h \"before its gate\" g_h; S_h \"the scaled scores\""},
          .defaults = {.width = 64, .heads = 4},
          .limits = {},
          .run = euler::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
