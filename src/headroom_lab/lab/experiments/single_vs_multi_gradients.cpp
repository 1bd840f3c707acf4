// single-vs-multi, second half: zero-mean weights, and the gradients of one head and of several.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/experiments/single_vs_multi.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace single_vs_multi {

namespace {

constexpr int cosine_draws = 10;

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
    sum[i / (h * n) * n + i % n] += x[i] * Real(factor);
  }
  return sum;
}

/// The columns of a weight that belong to one head.
Array columns_of(const Array& weight, Index head, Index d) {
  return slice(weight, {1, head * d, (head + 1) * d});
}

/// Shows a row for every head: its columns of dW in both, and the difference between derivation and
/// tape; returns the maximum difference.
double head_by_head(const LabOptions& options, const AttentionDerivation& derived,
                    const TapedAttention& one, const TapedAttention& many, Notebook& book) {
  constexpr Index most_shown = 16;
  const Index d = options.head_dim();
  Notebook::Rows rows;
  double worst = 0, least_cosine = 1, most_cosine = -1;
  for (Index h = 0; h < options.heads; ++h) {
    std::vector<Value> row{h};
    double distance = 0;
    const auto add = [&](const Array& by_hand, const Array& of_one, const Array& of_many) {
      const Array single = columns_of(of_one, h, d), multi = columns_of(of_many, h, d);
      const double angle = cosine(single, multi);
      row.insert(row.end(), {norm(single), norm(multi), angle});
      least_cosine = smaller(least_cosine, angle);
      most_cosine = larger(most_cosine, angle);
      distance = larger(distance, relative_difference(columns_of(by_hand, h, d), multi));
    };
    add(derived.d_wq, one.d_wq, many.d_wq);
    add(derived.d_wk, one.d_wk, many.d_wk);
    add(derived.d_wv, one.d_wv, many.d_wv);
    row.emplace_back(distance);
    worst = larger(worst, distance);
    if (h < most_shown) rows.push_back(std::move(row));
  }
  book.table(
      sentence("Cosines of {:.2f} to {:.2f} between the gradients of a head's columns",
               least_cosine, most_cosine),
      sentence(
          "Norms of dW_Q, dW_K and dW_V in every head's {} columns, with a single head and with "
          "{}, and the cosine between the two; then the difference between derivation and tape "
          "in these columns, max |difference| / max |value|.{}",
          d, options.heads,
          options.heads > most_shown ? sentence(" The first {} heads are shown.", most_shown) : ""),
      {"head", "Q: single", "Q: multi", "Q: cosine", "K: single", "K: multi", "K: cosine",
       "V: single", "V: multi", "V: cosine", "derivation - tape"},
      rows);
  return worst;
}

constexpr Index most_drawn = 16;  // heads, each of which is a picture

/// Shows the single head's scores of the first example as the sum of the heads' scores.
void draw_scores(const AttentionDerivation& one, const AttentionDerivation& many, Index heads,
                 Notebook& book) {
  const Index n = one.scores.dim(-1);
  const auto of_head = [&](const Array& scores, Index head, double factor) {
    Array map({n, n});
    for (Index i = 0; i < n * n; ++i) map[i] = scores[head * n * n + i] * Real(factor);
    return map;
  };
  std::vector<Notebook::Map> maps{{"S", of_head(one.scores, 0, 1)}};
  std::vector<std::string> positions;
  for (Index i = 0; i < n; ++i) positions.push_back(std::to_string(i));
  double top = max_abs(maps.front().weights);
  for (Index h = 0; h < heads; ++h) {
    maps.push_back({fmt::format("S_{}", h), of_head(many.scores, h, 1 / std::sqrt(double(heads))),
                    h == 0 ? "=" : "+"});
    top = larger(top, max_abs(maps.back().weights));
  }
  book.maps(sentence("The scores of a single head are the sum of {} heads' scores", heads),
            sentence("Scores of the first example, queries by keys; those of the heads are divided "
                     "by sqrt({}). A single head applies one softmax to the sum, several heads "
                     "apply one to each term. The darkest shade is {:,}; negative scores have "
                     "another hue.",
                     heads, top),
            positions, positions, maps, top);
  book.figure();
}

/// Norms of the square blocks of a gradient, [input features of a head's width, head].
Array block_norms(const Array& gradient, Index heads) {
  const Index d = gradient.dim(0) / heads;
  Array norms({heads, heads});
  for (Index row = 0; row < heads; ++row) {
    const Array rows = slice(gradient, {0, row * d, (row + 1) * d});
    for (Index head = 0; head < heads; ++head) {
      norms[row * heads + head] = Real(norm(columns_of(rows, head, d)));
    }
  }
  return norms;
}

/// Shows the norms of the blocks of dW_Q, dW_K and dW_V, with one head and with several.
void draw_gradients(const TapedAttention& one, const TapedAttention& many,
                    const LabOptions& options, Notebook& book) {
  const Index heads = options.heads;
  const std::vector<Notebook::Map> maps{{"dW_Q, single", block_norms(one.d_wq, heads)},
                                        {"dW_Q, multi", block_norms(many.d_wq, heads)},
                                        {"dW_K, single", block_norms(one.d_wk, heads)},
                                        {"dW_K, multi", block_norms(many.d_wk, heads)},
                                        {"dW_V, single", block_norms(one.d_wv, heads)},
                                        {"dW_V, multi", block_norms(many.d_wv, heads)}};
  double top = 0;
  for (const Notebook::Map& map : maps) top = larger(top, max_abs(map.weights));
  book.maps("Gradients of the weights by blocks",
            sentence("Norm of each {} x {} block. Columns are heads: a head's columns of the "
                     "weight. Rows are blocks of input features. The darkest shade is {:,}.",
                     options.head_dim(), options.head_dim(), top),
            numbered("in", heads), numbered("head", heads), maps, top);
}

void derivation(const LabOptions& options, Notebook& book) {
  Rng rng(options.seed, "single-vs-multi derivation");
  const AttentionInputs inputs = zero_mean_inputs(batch, tokens, options.width, rng);
  const AttentionDerivation one = derive(inputs, 1), many = derive(inputs, options.heads);
  const TapedAttention taped_one = taped(inputs, 1), taped_many = taped(inputs, options.heads);
  const double root = std::sqrt(double(options.heads));
  if (options.heads <= most_drawn) {
    draw_scores(one, many, options.heads, book);
    draw_gradients(taped_one, taped_many, options, book);
  }
  const auto line = [&](const char* name, const char* formula, const Array& a, const Array& b) {
    return Notebook::Step{name, formula, {{"single head", a}, {"multi, head 0", b}}};
  };
  book.matrices(
      "The gradients of a single head and of several, line by line",
      sentence("The first example of a batch of {}; the upper left corner of each matrix. In the "
               "single head's Q, K, V and their gradients it is in head 0's columns. R = dL/dy is "
               "the same for both; D is the width of a head, {} for the single one and {} for "
               "each of {}.",
               batch, options.width, options.head_dim(), options.heads),
      {line("S", "Q_h K_h^T / sqrt(D)", one.scores, many.scores),
       line("P", "softmax(S_h) \"over the keys\"", one.weights, many.weights),
       line("dV", "P_h^T R_h", one.d_value, many.d_value),
       line("dP", "R_h V_h^T \"(the single one: summed over the heads)\"", one.d_weights,
            many.d_weights),
       line("dS", "P * (dP - rowsum(P * dP)) \"(a Jacobian for each row of each head)\"",
            one.d_scores, many.d_scores),
       line("dQ", "dS_h K_h / sqrt(D)", one.d_query, many.d_query),
       line("dK", "dS_h^T Q_h / sqrt(D)", one.d_key, many.d_key),
       line("dW_Q", "x^T dQ \"(summed over the batch)\"", one.d_wq, many.d_wq),
       line("dW_K", "x^T dK", one.d_wk, many.d_wk), line("dW_V", "x^T dV", one.d_wv, many.d_wv)});
  book.at_most("S_single against (1/sqrt h) sum of S_h, relative difference",
               relative_difference(one.scores, sum_over_heads(many.scores, 1 / root)), same_values);
  book.at_most("dP of the single head against the sum of the heads' dP_h, relative difference",
               relative_difference(one.d_weights, sum_over_heads(many.d_weights, 1)), same_values);
  book.at_most("single head: derivation against the tape, relative difference of gradients",
               apart(one, taped_one), same_gradients);
  book.at_most("multi-head: derivation against the tape, relative difference of gradients",
               apart(many, taped_many), same_gradients);
  book.at_most("multi-head: the same head by head, worst head",
               head_by_head(options, many, taped_one, taped_many, book), same_gradients);
  book.at_least("zero-mean weights: relative difference of the outputs",
                relative_difference(one.y, many.y), 0.01);
}

/// Cosines between single-head and multi-head gradients in one draw.
struct Cosines {
  double query, key, value, input;
};

/// For several numbers of heads, on the same draws.
Grid<Index, Cosines> cosines(const LabOptions& options, const std::vector<Index>& counts,
                             Index length) {
  return {counts, cosine_draws, [&](std::uint64_t draw) {
            Rng rng(options.seed, "single-vs-multi cosine " + std::to_string(length), draw);
            const AttentionInputs inputs = zero_mean_inputs(batch, length, options.width, rng);
            const TapedAttention one = taped(inputs, 1);
            std::vector<Cosines> found;
            for (const Index heads : counts) {
              const TapedAttention many = taped(inputs, heads);
              found.push_back({cosine(one.d_wq, many.d_wq), cosine(one.d_wk, many.d_wk),
                               cosine(one.d_wv, many.d_wv), cosine(one.d_x, many.d_x)});
            }
            return found;
          }};
}

void angles(const LabOptions& options, Notebook& book) {
  // All numbers of heads at the text's length, the asked one at longer ones.
  const std::vector<Index> counts = counts_of_heads(options.width, 64, options.heads);
  const Grid<Index, Cosines> by_heads = cosines(options, counts, tokens);
  const Survey<Cosines>& at_ten = by_heads.of(options.heads);
  const Survey<Cosines> at_sixteen = cosines(options, {options.heads}, 16)[0],
                        at_many = cosines(options, {options.heads}, 128)[0];
  Notebook::Rows rows;
  const auto add_row = [&](Index length, const Survey<Cosines>& c) {
    rows.push_back({length, c.mean(&Cosines::query), c.mean(&Cosines::key), c.mean(&Cosines::value),
                    c.mean(&Cosines::input)});
  };
  const Interval of_query = at_ten.mean(&Cosines::query);
  add_row(tokens, at_ten);
  add_row(16, at_sixteen);
  add_row(128, at_many);
  book.table(
      sentence("Cosine between the gradients: {:.2f} for W_Q, {:.2f} for W_V", of_query.value,
               at_ten.mean(&Cosines::value).value),
      sentence("Gradients with one head and with {}, from the same weights N(0, 1/{}), inputs and "
               "cotangent N(0, 1), batch {}, no output Linear; means of {} draws with 95 % "
               "intervals.",
               options.heads, options.width, batch, cosine_draws),
      {"tokens", "dW_Q", "dW_K", "dW_V", "dx"}, rows);
  const Notebook::Series query = by_heads.series("dW_Q", as_it_is, &Cosines::query),
                         value = by_heads.series("dW_V", as_it_is, &Cosines::value);
  book.chart(sentence("With {} heads the cosine is {:.2f} for W_Q, with {} it is {:.2f}", counts[1],
                      query.points[1].second, counts.back(), query.points.back().second),
             sentence("Cosine with the single head's gradient at {} tokens.", tokens), "heads",
             "cosine", false, {query, value});
  book.at_most("one head against itself: 1 - cosine of dW_Q", 1 - query.points[0].second,
               same_gradients);
  // A head's dS_h depends on dP_h alone, the single head's on the dP of all heads: they have one of
  // h independent parts of equal size in common. Their different weights lower the cosine further.
  book.at_most("cosine of dW_Q at 10 tokens, lower end, times sqrt(h)",
               of_query.low * std::sqrt(double(options.heads)), 1);
  if (text_sizes(options)) {
    const auto claim = [&](Index length, const Survey<Cosines>& c, double dw_q, double dw_v) {
      constexpr double off = 0.04;  // of the figures' second digit and of ten draws
      book.within(fmt::format("512 features, 8 heads, {} tokens: cosine of dW_Q", length),
                  c.mean(&Cosines::query).value, dw_q - off, dw_q + off);
      book.within(fmt::format("512 features, 8 heads, {} tokens: cosine of dW_V", length),
                  c.mean(&Cosines::value).value, dw_v - off, dw_v + off);
    };
    claim(tokens, at_ten, 0.25, 0.66);
    claim(16, at_sixteen, 0.25, 0.63);
    claim(128, at_many, 0.21, 0.53);
  }
}

}  // namespace

void compare_gradients(const LabOptions& options, Notebook& book) {
  derivation(options, book);
  angles(options, book);
}

}  // namespace single_vs_multi
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
