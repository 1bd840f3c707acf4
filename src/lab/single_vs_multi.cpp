// single-vs-multi: one head against several from the same weights: when they agree, and the
// gradients of both.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headroom/base/extremes.hpp"
#include "headroom/heads/transplant.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/lab_record.hpp"
#include "lab/attention_derivation.hpp"
#include "lab/numbers.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace single_vs_multi {

constexpr Index batch = 2, tokens = 10;  // x = torch.rand(2, 10, 512)
constexpr int rate_draws = 100, cosine_draws = 10;
// Seeds on which the text's comparison gives True and False with its sizes, in float.
constexpr std::uint64_t true_seed = 1, false_seed = 6;

bool text_sizes(const LabOptions& options) { return options.width == 512 && options.heads == 8; }

// ------------------------------------------------------------ uniform weights, as in the text

/// The key with the largest weight in every row, [B * H * T], and whether all weights are 1 and 0.
struct Picks {
  std::vector<Index> keys;
  bool one_hot = true;
};

Picks picks_of(const Array& weights) {
  Picks picks;
  const Index n = weights.dim(-1);
  for (Index row = 0; row < weights.size(); row += n) {
    const Real* w = weights.data() + row;
    picks.keys.push_back(std::max_element(w, w + n) - w);
    picks.one_hot = picks.one_hot && std::count_if(w, w + n, [](Real p) { return p > 0; }) == 1;
  }
  return picks;
}

/// One draw of the text's experiment.
struct Compared {
  bool equal;      // torch.all(single.eq(multi))
  bool one_hot;    // every row of weights of both
  bool same_keys;  // every head picks the single head's key in every row
  Picks single, multi;
};

AttentionInputs inputs_of(const LabOptions& options, std::uint64_t seed) {
  Rng rng(seed, "single-vs-multi uniform");
  return uniform_inputs(batch, tokens, options.width, rng);
}

Compared compare(const LabOptions& options, const AttentionInputs& inputs) {
  const AttentionForward one = attended(inputs, 1), many = attended(inputs, options.heads);
  Compared c{};
  c.equal = std::equal(one.y.span().begin(), one.y.span().end(), many.y.span().begin());
  c.single = picks_of(one.weights);
  c.multi = picks_of(many.weights);
  c.one_hot = c.single.one_hot && c.multi.one_hot;
  c.same_keys = true;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < options.heads; ++h) {
      for (Index i = 0; i < tokens; ++i) {
        const auto row = static_cast<std::size_t>((b * options.heads + h) * tokens + i);
        const auto row_of_single = static_cast<std::size_t>(b * tokens + i);
        c.same_keys = c.same_keys && c.multi.keys[row] == c.single.keys[row_of_single];
      }
    }
  }
  return c;
}

/// "3" when all queries of an example pick key 3 in this head, else "3, 5, 8".
std::string keys_text(const Picks& picks, Index first_row) {
  std::vector<Index> keys(picks.keys.begin() + first_row, picks.keys.begin() + first_row + tokens);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return fmt::format("{}", fmt::join(keys, ", "));
}

const char* truth(bool value) { return value ? "True" : "False"; }

/// Two named seeds: the keys that the heads pick, and the gradients.
void named_seeds(const LabOptions& options, Notebook& book) {
  Notebook::Rows keys, gradients;
  std::vector<std::string> columns{"seed, example", "equal", "single head"};
  const Index shown = std::min<Index>(options.heads, 8);
  for (Index h = 0; h < shown; ++h) columns.push_back(fmt::format("head {}", h));
  std::vector<Compared> compared;
  for (const std::uint64_t seed : {true_seed, false_seed}) {
    const AttentionInputs inputs = inputs_of(options, seed);
    const Compared c = compare(options, inputs);
    for (Index b = 0; b < batch; ++b) {
      std::vector<Record> row{fmt::format("{}, {}", seed, b), truth(c.equal),
                              keys_text(c.single, b * tokens)};
      for (Index h = 0; h < shown; ++h) {
        row.emplace_back(keys_text(c.multi, (b * options.heads + h) * tokens));
      }
      keys.push_back(std::move(row));
    }
    double most = 0;
    for (const Index heads : {Index{1}, options.heads}) {
      const TapedAttention t = taped(inputs, heads);
      gradients.push_back({fmt::format("{}, {}", seed, heads == 1 ? "single" : "multi"),
                           truth(c.equal), norm(t.d_wq), norm(t.d_wk), norm(t.d_wv)});
      most = larger(most, larger(largest(t.d_wq), largest(t.d_wk)));
    }
    if (c.one_hot) {
      book.equal(fmt::format("seed {}, all rows one-hot: largest gradient of W_Q and W_K", seed),
                 most, 0);
    }
    compared.push_back(c);
  }
  book.table("Equal outputs mean that all heads pick the same key",
             fmt::format("For two seeds and each of their {} examples, the key with the largest "
                         "weight: one number when all {} queries pick the same.",
                         batch, tokens),
             columns, keys);
  book.table(
      "Where weights are one-hot, W_Q and W_K get no gradient",
      "Norms of the gradients of <R, y> for a random cotangent R. A softmax that gives 1 and "
      "zeros has a Jacobian of zeros, so nothing reaches the scores.",
      {"seed, attention", "equal", "norm of dW_Q", "norm of dW_K", "norm of dW_V"}, gradients);
  if (!is_double && text_sizes(options)) {
    book.equal(fmt::format("seed {}, float: single.eq(multi) is True (1)", true_seed),
               compared[0].equal, 1);
    book.equal(fmt::format("seed {}, float: single.eq(multi) is False (0)", false_seed),
               compared[1].equal, 0);
    book.equal(fmt::format("seed {}, float: all heads pick the same keys (0: no)", false_seed),
               compared[1].same_keys, 0);
  }
}

/// How often the text's comparison is True.
Index rate(const LabOptions& options, Notebook& book) {
  Index equal = 0, one_hot = 0, same_keys = 0, both = 0, broken_true = 0, broken_false = 0;
  Index soft = 0;  // different outputs although all heads prefer the same keys
  for (int i = 0; i < rate_draws; ++i) {
    const Compared c =
        compare(options, inputs_of(options, options.seed + static_cast<std::uint64_t>(i)));
    equal += c.equal;
    one_hot += c.one_hot;
    same_keys += c.same_keys;
    both += c.one_hot && c.same_keys;
    broken_true += c.one_hot && c.same_keys && !c.equal;
    broken_false += !c.same_keys && c.equal;
    soft += c.same_keys && !c.equal;
  }
  book.table(fmt::format("single.eq(multi) is True in {} of {} draws with torch.rand weights",
                         equal, rate_draws),
             fmt::format(
                 "Seeds {} to {}, uniform weights and inputs in [0, 1), batch {}, {} tokens. The "
                 "text's True is a statement about float: the same draws in double are shown, but "
                 "no rate is asserted of them. One-hot means a single 1 and zeros to the last bit.",
                 options.seed, options.seed + rate_draws - 1, batch, tokens),
             {"", "draws", "share with 95 % interval"},
             {{"equal to the bit", equal, rate_interval(equal, rate_draws).text()},
              {"every row one-hot", one_hot, rate_interval(one_hot, rate_draws).text()},
              {"all heads on the single head's keys", same_keys,
               rate_interval(same_keys, rate_draws).text()},
              {"both", both, rate_interval(both, rate_draws).text()},
              {"the same keys, but a row shared between two", soft,
               rate_interval(soft, rate_draws).text()}});
  book.equal("uniform: draws with one-hot rows and equal keys, but different outputs",
             static_cast<double>(broken_true), 0);
  book.equal("uniform: draws with different keys, but equal outputs",
             static_cast<double>(broken_false), 0);
  if (!is_double && text_sizes(options)) {
    book.within("uniform, float: share of draws that are True",
                static_cast<double>(equal) / rate_draws, 0.35, 0.85);
  }
  return equal;
}

// ------------------------------------------------------------ zero-mean weights

/// Largest difference of the four gradients between a derivation and the tape, relative.
double apart(const AttentionDerivation& a, const TapedAttention& t) {
  return largest(
      std::array{relative_difference(a.d_wq, t.d_wq), relative_difference(a.d_wk, t.d_wk),
                 relative_difference(a.d_wv, t.d_wv), relative_difference(a.d_x, t.d_x)});
}

/// Sum over heads [B, H, T, T] -> [B, 1, T, T], times a factor.
Array sum_over_heads(const Array& x, double factor) {
  const Index b = x.dim(0), h = x.dim(1), n = x.dim(2) * x.dim(3);
  Array sum = zeros({b, 1, x.dim(2), x.dim(3)});
  for (Index i = 0; i < x.size(); ++i) {
    sum[i / (h * n) * n + i % n] += x[i] * static_cast<Real>(factor);
  }
  return sum;
}

/// A cotangent on one row of the weights only: how large dS becomes in all the other rows.
double leaks_between_rows(const AttentionDerivation& a) {
  Array one_row = zeros(a.d_weights.shape());
  const Index n = one_row.dim(-1), row = one_row.size() / n / 2;
  for (Index j = 0; j < n; ++j) one_row[row * n + j] = a.d_weights[row * n + j];
  const Array d_scores = softmax_backward(a.weights, one_row);
  double most = 0;
  for (Index i = 0; i < d_scores.size(); ++i) {
    if (i / n != row) most = larger(most, std::abs(static_cast<double>(d_scores[i])));
  }
  return most;
}

void derivation(const LabOptions& options, Notebook& book) {
  Rng rng(options.seed, "single-vs-multi derivation");
  const AttentionInputs inputs = zero_mean_inputs(batch, tokens, options.width, rng);
  const AttentionDerivation one = derive(inputs, 1), many = derive(inputs, options.heads);
  const TapedAttention taped_one = taped(inputs, 1), taped_many = taped(inputs, options.heads);
  const double root = std::sqrt(static_cast<double>(options.heads));
  const auto line = [&](const char* name, const char* formula, const Array& a, const Array& b) {
    return Notebook::Step{name, formula, {{"single head", a}, {"multi, head 0", b}}};
  };
  book.matrices(
      "The gradients of both, line by line",
      fmt::format("The first example of a batch of {}; of each matrix the upper left corner, which "
                  "in the single head's Q, K, V and their gradients belongs to head 0's columns. "
                  "With R = dL/dy the same for both; D is the width of a head, {} for the single "
                  "one and {} for each of {}.",
                  batch, options.width, options.head_dim(), options.heads),
      {line("S", "Q_h K_h^T / sqrt(D)", one.scores, many.scores),
       line("P", "softmax(S_h) over the keys", one.weights, many.weights),
       line("dV", "P_h^T R_h", one.d_value, many.d_value),
       line("dP", "R_h V_h^T; the single one is the sum over the heads", one.d_weights,
            many.d_weights),
       line("dS", "P * (dP - rowsum(P * dP)): a Jacobian for each row of each head", one.d_scores,
            many.d_scores),
       line("dQ", "dS_h K_h / sqrt(D)", one.d_query, many.d_query),
       line("dK", "dS_h^T Q_h / sqrt(D)", one.d_key, many.d_key),
       line("dW_Q", "x^T dQ, summed over the batch", one.d_wq, many.d_wq),
       line("dW_K", "x^T dK", one.d_wk, many.d_wk), line("dW_V", "x^T dV", one.d_wv, many.d_wv)});
  book.at_most("S_single against (1/sqrt h) sum of S_h, relative difference",
               relative_difference(one.scores, sum_over_heads(many.scores, 1 / root)), same_values);
  book.at_most("dP of the single head against the sum of the heads' dP_h, relative difference",
               relative_difference(one.d_weights, sum_over_heads(many.d_weights, 1)), same_values);
  book.equal("dS of rows whose dP is zero, largest", leaks_between_rows(many), 0);
  book.at_most("single head: derivation against the tape, relative difference of gradients",
               apart(one, taped_one), same_gradients);
  book.at_most("multi-head: derivation against the tape, relative difference of gradients",
               apart(many, taped_many), same_gradients);
  book.at_least("zero-mean weights: relative difference of the outputs",
                relative_difference(one.y, many.y), 0.01);
}

/// Mean cosines between single-head and multi-head gradients.
struct Cosines {
  Interval query, key, value, input;
};

/// For several numbers of heads, on the same draws.
std::vector<Cosines> cosines(const LabOptions& options, const std::vector<Index>& counts,
                             Index length) {
  std::vector<std::array<std::vector<double>, 4>> found(counts.size());
  for (int draw = 0; draw < cosine_draws; ++draw) {
    Rng rng(options.seed, "single-vs-multi cosine " + std::to_string(length),
            static_cast<std::uint64_t>(draw));
    const AttentionInputs inputs = zero_mean_inputs(batch, length, options.width, rng);
    const TapedAttention one = taped(inputs, 1);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const TapedAttention many = taped(inputs, counts[i]);
      found[i][0].push_back(cosine(one.d_wq, many.d_wq));
      found[i][1].push_back(cosine(one.d_wk, many.d_wk));
      found[i][2].push_back(cosine(one.d_wv, many.d_wv));
      found[i][3].push_back(cosine(one.d_x, many.d_x));
    }
  }
  std::vector<Cosines> means;
  for (const auto& [query, key, value, input] : found) {
    means.push_back(
        {mean_interval(query), mean_interval(key), mean_interval(value), mean_interval(input)});
  }
  return means;
}

void angles(const LabOptions& options, Notebook& book) {
  // All numbers of heads at the text's length, the asked one at longer ones.
  std::vector<Index> counts{options.heads};
  for (Index h = 2; h <= 64; h *= 2) {
    if (options.width % h == 0) counts.push_back(h);
  }
  const std::vector<Cosines> by_heads = cosines(options, counts, tokens);
  const Cosines& at_ten = by_heads.front();
  Notebook::Rows rows;
  const auto add_row = [&](Index length, const Cosines& c) {
    rows.push_back({length, c.query.text(), c.key.text(), c.value.text(), c.input.text()});
  };
  add_row(tokens, at_ten);
  add_row(16, cosines(options, {options.heads}, 16).front());
  const Cosines at_many = cosines(options, {options.heads}, 128).front();
  add_row(128, at_many);
  book.table(
      fmt::format("The gradients point in different directions: cosine {:.2f} for W_Q, {:.2f} for "
                  "W_V",
                  at_ten.query.value, at_ten.value.value),
      fmt::format("Cosine between the gradients with one head and with {}, from the same weights "
                  "N(0, 1/{}), inputs and cotangent N(0, 1), batch {}, no output Linear; mean of "
                  "{} draws with 95 % intervals.",
                  options.heads, options.width, batch, cosine_draws),
      {"tokens", "dW_Q", "dW_K", "dW_V", "dx"}, rows);
  Notebook::Series query{"dW_Q", {{1, 1}}}, value{"dW_V", {{1, 1}}};
  for (std::size_t i = 1; i < counts.size(); ++i) {
    query.points.emplace_back(counts[i], by_heads[i].query.value);
    value.points.emplace_back(counts[i], by_heads[i].value.value);
  }
  book.chart("The more heads, the further they turn away",
             fmt::format("Cosine with the single head's gradient at {} tokens.", tokens), "heads",
             "cosine", false, {query, value});
  book.at_most("cosine of dW_Q at 10 tokens", at_ten.query.value, 0.99);
  book.at_most("cosine of dW_V at 10 tokens", at_ten.value.value, 0.99);
  if (text_sizes(options)) {
    book.within("512 features, 8 heads, 10 tokens: cosine of dW_Q", at_ten.query.value, 0.15, 0.35);
    book.within("512 features, 8 heads, 10 tokens: cosine of dW_V", at_ten.value.value, 0.55, 0.75);
    book.within("512 features, 8 heads, 128 tokens: cosine of dW_Q", at_many.query.value, 0.1, 0.3);
    book.within("512 features, 8 heads, 128 tokens: cosine of dW_V", at_many.value.value, 0.43,
                0.63);
  }
}

void run(const LabOptions& options, Notebook& book) {
  const Index equal = rate(options, book);
  named_seeds(options, book);
  derivation(options, book);
  angles(options, book);
  book.answer(fmt::format(
      "They are different functions: a single head applies one softmax to (1/sqrt h) times the sum "
      "of the heads' scores, {0} heads apply {0}. With weights of torch.rand nearly every row "
      "picks "
      "a single key, so the outputs agree where all heads pick the same ones, in {1} of {2} draws, "
      "and a one-hot softmax passes no gradient to W_Q and W_K; with zero-mean weights outputs and "
      "gradients differ.",
      options.heads, equal, rate_draws));
}

}  // namespace single_vs_multi
}  // namespace

Experiment single_vs_multi_experiment() {
  return {
      .name = "single-vs-multi",
      .text = "004",
      .asked_in = "a question on the gradients of single- and multi-head attention",
      .title = "Is multi-head attention the same as one wide head?",
      .question =
          "Attention is two products and a softmax. With the same 512 x 512 weights, does h = 8 "
          "with d_k = 64 give the same tensor as one head with d_k = 512? "
          "torch.all(sin(x,x,x).eq(multi(x,x,x))) returned True. If so, where do they differ? I "
          "can't work out the gradient calculations.",
      .computed =
          "The question's own code, with uniform weights, on 100 seeds: how often it is True, "
          "which keys the heads pick, and what the gradients are. Then the same with zero-mean "
          "weights: every line of the gradient is derived by hand, printed for both, and "
          "compared with the tape.",
      .formulas = {"S_single = (1/sqrt h) sum_h S_h",
                   "single: P = softmax((1/sqrt h) sum_h S_h), multi: P_h = softmax(S_h)",
                   "dP = sum_h R_h V_h^T against dP_h = R_h V_h^T",
                   "dS_h = P_h * (dP_h - rowsum(P_h * dP_h))",
                   "dW_Q = x^T dS K / sqrt(D), dW_K = x^T dS^T Q / sqrt(D), dW_V = x^T P^T R"},
      .defaults = {.width = 512, .heads = 8},
      .limits = {.least_heads = 2},
      .run = single_vs_multi::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
