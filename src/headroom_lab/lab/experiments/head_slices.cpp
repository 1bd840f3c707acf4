// head-slices: which rows and columns of BERT's Linears belong to head h, and the effect of the
// output Linear.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/head_outlines.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace head_slices {

constexpr Index batch = 2, tokens = 16;

/// The parameters of BERT's Linears `query`, `key`, `value` and `dense`, [out, in].
struct Linears {
  Array query, key, value, output;                      // [C, C]
  Array query_bias, key_bias, value_bias, output_bias;  // [C]
};

Linears draw(Index width, Rng& rng) {
  const Real deviation = 1 / std::sqrt(Real(width));
  const auto weight = [&] { return normal({width, width}, deviation, rng); };
  const auto bias = [&] { return normal({width}, Real(0.1), rng); };
  return {weight(), weight(), weight(), weight(), bias(), bias(), bias(), bias()};
}

/// Creates the layer with these parameters: query, key and value one below the other.
std::unique_ptr<FusedHeads> layer_of(const Linears& from, Index heads) {
  Rng unused(0);
  auto layer = std::make_unique<FusedHeads>(
      AttentionConfig{.width = from.query.dim(0), .heads = heads}, unused);
  layer->in_proj_weight.set_value(concat({from.query, from.key, from.value}, 0));
  layer->in_proj_bias.set_value(concat({from.query_bias, from.key_bias, from.value_bias}, 0));
  layer->out_proj.weight.set_value(from.output.clone());
  layer->out_proj.bias.set_value(from.output_bias.clone());
  return layer;
}

/// One head alone, from its rows: A_h [B, T, D] = softmax(Q_h K_h^T / sqrt(D)) V_h, on the tape.
struct OneHead {
  Tensor query, key, value;  // its rows, [D, C]
  Tensor output;             // its columns, [C, D]
  Tensor attended;           // A_h
};

OneHead one_head(const Linears& from, const Tensor& x, Index head, Index d) {
  const Index begin = head * d, end = begin + d;
  OneHead one;
  one.query = parameter(slice(from.query, {0, begin, end}));
  one.key = parameter(slice(from.key, {0, begin, end}));
  one.value = parameter(slice(from.value, {0, begin, end}));
  one.output = parameter(slice(from.output, {1, begin, end}));
  const auto bias = [&](const Array& all) { return Tensor(slice(all, {0, begin, end})); };
  const Tensor q = linear(x, one.query, bias(from.query_bias));
  const Tensor k = linear(x, one.key, bias(from.key_bias));
  const Tensor v = linear(x, one.value, bias(from.value_bias));
  const Real scale = 1 / std::sqrt(Real(d));
  one.attended = matmul(softmax(matmul(q, transpose(k)) * scale), v);
  return one;
}

/// Number of features of the last axis that differ anywhere.
Index moved_features(const Array& a, const Array& b, Index begin, Index end) {
  Index moved = 0;
  for (Index c = begin; c < end; ++c) {
    bool differs = false;
    for (Index row = c; row < a.size(); row += a.dim(-1)) differs = differs || a[row] != b[row];
    if (differs) ++moved;
  }
  return moved;
}

/// Changing head `h`'s rows of W_Q, W_K and W_V: the features that change before and after the
/// output Linear.
struct Moved {
  Index own = 0, others = 0, output = 0;
};

Moved change_rows(const Linears& from, const Tensor& x, Index heads, Index h, Rng& rng) {
  const NoGrad quiet;
  const Index width = from.query.dim(0), d = width / heads;
  Linears changed = from;
  for (Array* weight : {&changed.query, &changed.key, &changed.value}) {
    *weight = weight->clone();
    for (Index i = h * d * width; i < (h + 1) * d * width; ++i) (*weight)[i] += rng.normal();
  }
  AttentionAsk ask;
  ask.head_out = true;
  const auto run = [&](const Linears& linears) {
    AttentionOut out = (*layer_of(linears, heads))(x, x, x, AttentionMask::none(), ask);
    const Array side_by_side = transposed(out.head_out.value(), 1, 2);
    return std::pair(side_by_side.reshaped({batch, tokens, width}), out.y.value());
  };
  const auto [heads_before, y_before] = run(from);
  const auto [heads_after, y_after] = run(changed);
  const Index own = moved_features(heads_before, heads_after, h * d, (h + 1) * d);
  return {own, moved_features(heads_before, heads_after, 0, width) - own,
          moved_features(y_before, y_after, 0, width)};
}

/// Number of a head's parameters: its rows of three Linears with their biases, and its columns of
/// the fourth.
Index numbers_of_head(const LabOptions& options) {
  return options.head_dim() * (4 * options.width + 3);
}

/// The whole layer after one pass, and every head alone from its rows and columns.
struct Setting {
  Linears linears;
  Tensor x;
  std::unique_ptr<FusedHeads> layer;
  Array y;
  std::vector<OneHead> alone;
  std::vector<Array> contributions;  // A_h W_O^h of each head
};

/// Claims that the heads alone add up to the layer, and that their gradients are its gradients at
/// the same rows and columns.
Setting take_apart(const LabOptions& options, Rng& rng, Notebook& book) {
  const Index width = options.width, heads = options.heads, d = options.head_dim();
  Setting s;
  s.linears = draw(width, rng);
  s.x = Tensor(normal({batch, tokens, width}, 1, rng));
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  s.layer = layer_of(s.linears, heads);
  const Tensor y = (*s.layer)(s.x, s.x, AttentionMask::none());
  y.backward(cotangent);
  s.y = y.value();
  Tensor sum = Tensor(s.linears.output_bias);
  for (Index h = 0; h < heads; ++h) {
    s.alone.push_back(one_head(s.linears, s.x, h, d));
    const Tensor contribution = linear(s.alone.back().attended, s.alone.back().output);
    s.contributions.push_back(contribution.value());
    sum = sum + contribution;
  }
  sum.backward(cotangent);

  // Relative to the maximum of the whole matrix: one head's gradient may be small by chance.
  const Array& packed = s.layer->in_proj_weight.grad();
  const Array& output = s.layer->out_proj.weight.grad();
  double in_difference = 0, out_difference = 0;
  for (Index h = 0; h < heads; ++h) {
    const OneHead& one = at(s.alone, h);
    Index third = 0;
    for (const Tensor* rows : {&one.query, &one.key, &one.value}) {
      const Index begin = third++ * width + h * d;
      in_difference = larger(
          in_difference, largest_difference(slice(packed, {0, begin, begin + d}), rows->grad()));
    }
    out_difference =
        larger(out_difference,
               largest_difference(slice(output, {1, h * d, (h + 1) * d}), one.output.grad()));
  }
  book.at_most("layer output against b_O + sum of A_h W_O^h, relative difference",
               relative_difference(s.y, sum.value()), same_values);
  book.at_most("gradients of the layer against those of the heads alone, relative difference",
               larger(in_difference / max_abs(packed), out_difference / max_abs(output)),
               same_gradients);
  return s;
}

/// Shows which rows and columns belong to a head, and which heads contribute to the first D output
/// features.
void show_slices(const LabOptions& options, const Setting& s, Notebook& book) {
  const Index d = options.head_dim();
  double all_squares = 0;
  std::vector<double> squares;
  for (const Array& contribution : s.contributions) {
    const Array first = slice(contribution, {2, 0, d});
    squares.push_back(inner(first, first));
    all_squares += squares.back();
  }
  std::vector<LabHeads::Matrix> matrices;
  for (const char* name : {"query.weight", "key.weight", "value.weight"}) {
    matrices.push_back(rows_by_head(name, options.heads, d, options.width));
  }
  matrices.push_back(columns_by_head("dense.weight", options.heads, d, options.width));
  book.heads(
      sentence("The four {} x {} matrices, cut into {} heads", options.width, options.width,
               options.heads),
      "A head has rows of query, key and value, whose outputs it gets, and columns of the output "
      "Linear (in BERT attention.output.dense), whose inputs it computes.",
      std::move(matrices));
  book.figure();
  Notebook::Rows rows;
  for (Index h = 0; h < options.heads; ++h) {
    const std::string own = fmt::format("{} to {}", h * d, (h + 1) * d - 1);
    rows.push_back({fmt::format("head {}", h), own, own, norm(at(s.contributions, h)),
                    at(squares, h) / all_squares});
  }
  book.table(
      sentence("Each head has {} rows of three matrices and {} columns of the fourth", d, d),
      "Rows of query, key and value (and of their biases); columns of the output Linear, whose "
      "bias belongs to no head. Last column: each head's share of the first output features.",
      {"", "rows of query, key, value", "columns of output", "norm of A_h W_O^h",
       fmt::format("share of output features 0 to {}", d - 1)},
      rows);
  if (d < 8) return;  // with few features a head may have small weights there by chance
  book.more_than(fmt::format("smallest share of a head in output features 0 to {}", d - 1),
                 smallest(squares) / all_squares, 0.1 / double(options.heads));
}

/// Counts the features that change when the rows of one head change.
void change_heads(const LabOptions& options, const Setting& s, Rng& rng, Notebook& book) {
  const Index width = options.width, heads = options.heads, d = options.head_dim();
  const Index probed = std::min<Index>(heads, 4);
  const Survey<Moved> moved(probed, [&](auto i) {
    return change_rows(s.linears, s.x, heads, Index(i) * heads / probed, rng);
  });
  const auto fewest_own = Index(moved.smallest(&Moved::own)),
             most_others = Index(moved.largest(&Moved::others)),
             fewest_output = Index(moved.smallest(&Moved::output));
  book.table("Features that change with the rows of one head",
             sentence("Random numbers are added to one head's rows of W_Q, W_K and W_V, for {} of "
                      "the heads in turn. A_h is the input of the output Linear.",
                      probed),
             {"", "features", "changed, at least", "changed, at most"},
             {{"the head's own output A_h", d, fewest_own, d},
              {"all other heads' outputs", width - d, 0, most_others},
              {"the layer's output y", width, fewest_output, width}});
  book.equal("features of a head's own output that change with its rows, at least",
             double(fewest_own), double(d));
  book.equal("features of other heads' outputs that change with them", double(most_others), 0);
  book.equal("features of y that change with them, at least", double(fewest_output), double(width));
}

/// Prunes as BERT's users did: removes the rows and columns of some heads.
void prune_heads(const LabOptions& options, Setting& s, Notebook& book) {
  const Index heads = options.heads, gone = (heads + 3) / 4, per_head = numbers_of_head(options);
  std::vector<Index> pruned;
  const NoGrad quiet;
  Tensor kept = Tensor(s.linears.output_bias) + Tensor(zeros(s.y.shape()));
  for (Index h = 0; h < heads; ++h) {
    if (h % 4 == 0) {
      pruned.push_back(h);
    } else {
      kept = kept + Tensor(at(s.contributions, h));
    }
  }
  const Index before = count_parameters(*s.layer);
  s.layer->prune(pruned);
  const Index after = count_parameters(*s.layer);
  const Array y = (*s.layer)(s.x, s.x, AttentionMask::none()).value();
  book.table(
      sentence("Parameters before and after pruning {} of {} heads", gone, heads),
      "The output of the pruned layer is compared with the output bias plus the contributions of "
      "the remaining heads.",
      {"", "heads", "parameters"},
      {{"before", heads, before}, {"after", heads - gone, after}, {"one head", 1, per_head}});
  book.at_most("pruned layer against the sum over the kept heads, relative difference",
               relative_difference(y, kept.value()), same_values);
  book.equal("parameters removed per pruned head", double(before - after) / double(gone),
             double(per_head));
}

void run(const LabOptions& options, Notebook& book) {
  Rng rng(options.seed, "head-slices");
  Setting setting = take_apart(options, rng, book);
  show_slices(options, setting, book);
  change_heads(options, setting, rng, book);
  prune_heads(options, setting, book);
  const Index last = options.head_dim() - 1;
  book.answer(
      sentence("Yes: rows 0 to {} of query, key and value and columns 0 to {} of the output Linear "
               "belong to head 0, the next ones to head 1, and so on. The thread's objection is "
               "true of features after the output Linear, where every feature mixes {}.",
               last, last,
               options.heads == 1 ? std::string("all features of the head")
                                  : sentence("all {} heads", options.heads)),
      sentence("y is b_O plus one product per head, so each head can be removed with its {:,} "
               "parameters.",
               numbers_of_head(options)));
}

}  // namespace head_slices
}  // namespace

Experiment head_slices_experiment() {
  return {.name = "head-slices",
          .asked_in = "a forum thread on pruning the heads of BERT",
          .title = "Are the first 64 rows of BERT's query matrix head 0?",
          .question =
              "May the first 64 of the 768 output features of BERT's query, key and value be taken "
              "for head 0, although an output Linear follows?",
          .words = "first 64 neurons features split slice linear",
          .sentence =
              "Yes: rows 0 to 63 of query, key and value and columns 0 to 63 of the output Linear "
              "are head 0, and the layer's output is the sum of its heads.",
          .computed =
              "A self-attention layer of that size with random weights and biases runs as a whole. "
              "Then every head is computed alone, from its rows of query, key and value and its "
              "columns of the output Linear, and the results are added up. The gradients for a "
              "random cotangent are compared in the same way. Then single heads are changed and "
              "removed. examples/split_heads.cpp splits the heads in thirty lines.",
          .formulas = {"Q_h = x W_Q[hD : (h + 1)D]^T + b_Q[hD : (h + 1)D], \"likewise\" K_h, V_h",
                       "A_h = softmax(Q_h K_h^T / sqrt(D)) V_h",
                       "y = b_O + sum_h A_h W_O[\"all rows\", hD : (h + 1)D]^T"},
          .defaults = {.width = 768, .heads = 12},
          .limits = {},
          .run = head_slices::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
