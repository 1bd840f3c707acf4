// shared-head: one small Linear for all heads, as in a popular tutorial, is another function.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/shared_head.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/head_outlines.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace shared_heads {

constexpr Index batch = 2, tokens = 12;
constexpr int draws = 5;

struct Sizes {
  Index width, heads, d;
};

constexpr const char* roles[] = {"W_Q", "W_K", "W_V"};

/// Writes I_h (x) W: `small` [D, D] in every diagonal block of a [C, C] matrix.
void put_on_diagonal(const Array& small, const Sizes& s, Array& packed, Index first_row) {
  for (Index h = 0; h < s.heads; ++h) {
    for (Index i = 0; i < s.d; ++i) {
      Real* row = packed.data() + (first_row + h * s.d + i) * s.width;
      std::copy_n(small.data() + i * s.d, s.d, row + h * s.d);
    }
  }
}

Array sum_of(const std::vector<Array>& arrays) {
  Array sum = zeros(arrays.front().shape());
  for (const Array& array : arrays) {
    for (Index i = 0; i < sum.size(); ++i) sum[i] += array[i];
  }
  return sum;
}

/// Cosines of every pair, [n, n].
Array cosines(const std::vector<Array>& blocks) {
  const auto n = Index(blocks.size());
  Array result({n, n});
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      result[i * n + j] = Real(cosine(at(blocks, i), at(blocks, j)));
    }
  }
  return result;
}

Array absolute(const Array& a) {
  Array result(a.shape());
  for (Index i = 0; i < a.size(); ++i) result[i] = std::abs(a[i]);
  return result;
}

/// The elements above the diagonal: each pair once.
std::vector<double> pairs_of(const Array& square) {
  const Index n = square.dim(0);
  std::vector<double> pairs;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) pairs.push_back(double(square[i * n + j]));
  }
  return pairs;
}

/// A shared layer and the fused one constrained to the same function, both with gradients of
/// <cotangent, y> on the same input.
struct Twins {
  std::unique_ptr<SharedHead> shared;
  std::unique_ptr<FusedHeads> fused;
  Tensor x;
  Array y_shared, y_fused;
};

Twins draw(const Sizes& s, std::uint64_t seed, std::uint64_t draw) {
  Rng rng(seed, "shared-head", draw);
  const AttentionConfig config{.width = s.width, .heads = s.heads, .bias = false};
  Twins twins{std::make_unique<SharedHead>(config, rng),
              std::make_unique<FusedHeads>(config, rng),
              Tensor(normal({batch, tokens, s.width}, 1, rng)),
              {},
              {}};
  Array packed = zeros(twins.fused->in_proj_weight.shape());
  Index third = 0;
  for (const Linear* small : {&twins.shared->queries, &twins.shared->keys, &twins.shared->values}) {
    put_on_diagonal(small->weight.value(), s, packed, third++ * s.width);
  }
  twins.fused->in_proj_weight.set_value(packed);
  twins.fused->out_proj.weight.set_value(twins.shared->fc_out.weight.value().clone());
  const Array cotangent = normal({batch, tokens, s.width}, 1, rng);
  const Tensor a = (*twins.shared)(twins.x, twins.x, AttentionMask::none());
  const Tensor b = (*twins.fused)(twins.x, twins.x, AttentionMask::none());
  a.backward(cotangent);
  b.backward(cotangent);
  twins.y_shared = a.value();
  twins.y_fused = b.value();
  return twins;
}

/// Each head's rows of one of the three gradients of a fused layer.
std::vector<Array> row_blocks(const Sizes& s, const FusedHeads& layer, Index third) {
  std::vector<Array> blocks;
  for (Index h = 0; h < s.heads; ++h) {
    const Index begin = third * s.width + h * s.d;
    blocks.push_back(slice(layer.in_proj_weight.grad(), {0, begin, begin + s.d}));
  }
  return blocks;
}

/// The diagonal blocks of one of the three gradients of the constrained fused layer.
std::vector<Array> diagonal_blocks(const Sizes& s, const Twins& twins, Index third) {
  std::vector<Array> blocks = row_blocks(s, *twins.fused, third);
  for (Index h = 0; h < s.heads; ++h) {
    at(blocks, h) = slice(at(blocks, h), {1, h * s.d, (h + 1) * s.d});
  }
  return blocks;
}

/// Which heads' outputs change when one slice of the input changes: [slice, head], 1: it changes,
/// 0: not a bit changes, NaN: it is NaN.
Array changed_heads(const Attention& layer, const Tensor& x, const Sizes& s, Rng& rng) {
  const NoGrad quiet;
  AttentionAsk ask;
  ask.head_out = true;
  const auto head_outputs = [&](const Tensor& input) {
    return layer(input, input, input, AttentionMask::none(), ask).head_out.value();
  };
  const Array before = head_outputs(x);
  Array result = zeros({s.heads, s.heads});
  for (Index of = 0; of < s.heads; ++of) {
    Array changed = x.value().clone();
    for (Index row = 0; row < batch * tokens; ++row) {
      for (Index i = 0; i < s.d; ++i) changed[row * s.width + of * s.d + i] += rng.normal();
    }
    const Array after = head_outputs(Tensor(changed));
    for (Index h = 0; h < s.heads; ++h) {
      const double difference =
          largest_difference(slice(before, {1, h, h + 1}), slice(after, {1, h, h + 1}));
      result[of * s.heads + h] =
          Real(std::isfinite(difference) ? (difference > 0 ? 1 : 0) : std::nan(""));
    }
  }
  return result;
}

/// Number of ones on the diagonal and off it; NaN if the matrix has one.
std::pair<double, double> count_changed(const Array& changed) {
  const Index n = changed.dim(0);
  double on = 0, off = 0;
  for (Index i = 0; i < n * n; ++i) (i / n == i % n ? on : off) += double(changed[i]);
  return {on, off};
}

void count_weights(const Sizes& s, const Twins& twins, Notebook& book) {
  const Index ratio = s.heads * s.heads;
  const Index shared = count_parameters(*twins.shared) - s.width * s.width;
  const Index fused = count_parameters(*twins.fused) - s.width * s.width;
  book.table(
      sentence("The shared layer has {} times fewer projection weights", ratio),
      "Weights of query, key and value together; the output Linear is the same. For the layouts of "
      "PyTorch, BERT, GPT-2 and Google's summarisation transformer: headroom lab layouts.",
      {"", "one matrix", "weights of Q, K, V"},
      {{"shared: one small matrix for all heads", fmt::format("[{0}, {0}]", s.d), shared},
       {"fused: separate rows for each head", fmt::format("[{0}, {0}]", s.width), fused}});
  book.equal("weights of Q, K, V: fused over shared", double(fused) / double(shared),
             double(ratio));
  book.at_most("shared layer against the fused one that holds I_h (x) W, relative difference",
               relative_difference(twins.y_shared, twins.y_fused), same_values);
}

/// Outlines of the query matrix of both layers.
void draw_matrices(const Sizes& s, Notebook& book) {
  LabHeads::Matrix diagonal{"shared: I (x) W_Q", s.width, s.width, {}};
  for (Index h = 0; h < s.heads; ++h) {
    const Index first = h * s.d, last = first + s.d - 1;
    diagonal.blocks.push_back({h, first, last, first, last});
  }
  book.heads(
      sentence("The shared layer is a fused one with {} equal blocks on the diagonal", s.heads),
      "The query matrix of both layers. In the shared one all coloured blocks are the same "
      "small matrix and the rest is 0, so a head sees only its slice of the input.",
      {std::move(diagonal), rows_by_head("fused: W_Q", s.heads, s.d, s.width)});
  book.figure();
}

/// The gradient of each small matrix is the sum of the diagonal blocks of the fused gradient.
void add_up_gradients(const Sizes& s, const Twins& twins, Notebook& book) {
  const Array& packed = twins.fused->in_proj_weight.grad();
  double worst = 0, least_off = 1;
  Notebook::Rows rows;
  Notebook::Step step{"dW_Q", "sum_h \"block\" (h, h) \"of the fused\" dW_Q", {}};
  Index third = 0;
  for (const Linear* small : {&twins.shared->queries, &twins.shared->keys, &twins.shared->values}) {
    const std::vector<Array> diagonal = diagonal_blocks(s, twins, third);
    double on = 0;
    for (const Array& block : diagonal) on += inner(block, block);
    const Array matrix = slice(packed, {0, third * s.width, (third + 1) * s.width});
    const double off = 1 - on / inner(matrix, matrix);
    const Array sum = sum_of(diagonal);
    const double difference = relative_difference(sum, small->weight.grad());
    worst = larger(worst, difference);
    least_off = smaller(least_off, off);
    rows.push_back({roles[third], norm(small->weight.grad()), norm(sum), difference, off});
    if (third == 0) {
      step.parts = {{"shared layer, by the tape", small->weight.grad()},
                    {"sum of the diagonal blocks", sum},
                    {"block (0, 0)", diagonal.front()}};
    }
    ++third;
  }
  book.table("The gradient of the shared layer and the diagonal blocks of the fused one",
             "The fused layer holds I_h (x) W, so both compute the same function. \"Off the "
             "diagonal\" is the share of the squared fused gradient that the constraint discards.",
             {"", "norm of dW, shared", "norm of the sum of blocks", "relative difference",
              "off the diagonal"},
             rows);
  book.matrices("The gradient of W_Q in both layers", "The upper left corner of each matrix.",
                {step});
  book.at_most("gradient of the shared layer against the sum of the diagonal blocks", worst,
               same_gradients);
  // About 1 - 1 / heads; in narrow heads a few large elements dominate.
  const double share = 1 - 1 / double(s.heads);
  const double of_few = s.d >= 32 ? 0.3 : 0.02;
  book.at_least("share of the fused gradient off the diagonal, minimum of Q, K, V", least_off,
                s.heads >= 4 && s.d >= 4 ? share / 2 : of_few);
}

/// Which heads depend on which slice of the input.
void probe_slices(const Sizes& s, const Twins& twins, std::uint64_t seed, Notebook& book) {
  Rng rng(seed, "shared-head probes");
  const TwinLayouts real = twin_layouts({.width = s.width, .heads = s.heads, .bias = false}, rng);
  const Array of_shared = changed_heads(*twins.shared, twins.x, s, rng);
  const auto [own, others] = count_changed(of_shared);
  book.equal("shared: heads that change with their own slice", own, double(s.heads));
  book.equal("shared: heads that change with another head's slice", others, 0);
  std::vector<Notebook::Map> maps{{"shared", of_shared}};
  for (const Attention* layer : {real.fused.get(), real.separate.get()}) {
    const char* name = name_of(layer->layout());
    maps.push_back({name, changed_heads(*layer, twins.x, s, rng)});
    const auto [on, off] = count_changed(maps.back().weights);
    book.equal(fmt::format("{}: pairs of slice and head in which the head changes", name), on + off,
               double(s.heads * s.heads));
  }
  book.maps("Heads whose output changes with a slice of the input",
            "Rows: the slice of the input that is changed. Columns: heads; filled if the head's "
            "output changes. The fused layer is that of BERT and PyTorch.",
            numbered("slice", s.heads), numbered("head", s.heads), maps);
}

double smallest_pair(const Array& square) { return smallest(pairs_of(square)); }
double largest_pair(const Array& square) { return largest(pairs_of(square)); }
double mean_pair(const Array& square) {
  const std::vector<double> pairs = pairs_of(square);
  return std::accumulate(pairs.begin(), pairs.end(), 0.0) / double(pairs.size());
}
double mean_size_of(const Array& square) { return mean_pair(absolute(square)); }

/// The expected |cosine| of independent random directions in n dimensions: that of one coordinate
/// of a uniform point on the unit sphere, Gamma(n / 2) / (sqrt(pi) Gamma((n + 1) / 2)).
double chance(Index n) {
  const double half = double(n) / 2;
  return std::exp(std::lgamma(half) - std::lgamma(half + 0.5)) / std::sqrt(std::numbers::pi);
}

/// Sets the gradients of the squared error against a teacher's outputs, replacing earlier ones.
void task_gradients(Attention& layer, const Tensor& x, const Tensor& target) {
  zero_grad(layer);
  squared_error(layer(x, x, AttentionMask::none()), target).backward();
}

/// The outputs of another layer with heads of full width, which both layers learn.
Tensor teacher_outputs(const Sizes& s, const Tensor& x, std::uint64_t seed, std::uint64_t draw) {
  const NoGrad quiet;
  Rng rng(seed, "shared-head teacher", draw);
  FusedHeads teacher({.width = s.width, .heads = s.heads, .bias = false}, rng);
  randomise(teacher, rng);
  return teacher(x, x, AttentionMask::none());
}

/// A gradient of W_Q, W_K or W_V: the diagonal blocks of the constrained layer, or the rows of a
/// free one.
struct Signal {
  bool shared;
  Index third;

  const char* blocks() const {
    return shared ? "shared, diagonal blocks" : "fused, rows of each head";
  }
  std::string gradient() const { return fmt::format("d{}", roles[third]); }
};

/// Cosines between the heads' blocks of each gradient, [heads, heads] of each draw.
using Signals = Grid<Signal, Array>;

Signals signals_of(const Sizes& s, std::uint64_t seed) {
  Rng rng(seed, "shared-head free layers");
  const std::vector<Signal> cases{{true, 0},  {true, 1},  {true, 2},
                                  {false, 0}, {false, 1}, {false, 2}};
  return Signals(cases, draws, [&](std::uint64_t i) {
    const Twins twins = draw(s, seed, i);
    FusedHeads layer({.width = s.width, .heads = s.heads, .bias = false}, rng);
    const Tensor target = teacher_outputs(s, twins.x, seed, i);
    task_gradients(*twins.fused, twins.x, target);
    task_gradients(layer, twins.x, target);
    std::vector<Array> found;
    for (const auto& [shared, third] : cases) {
      found.push_back(
          cosines(shared ? diagonal_blocks(s, twins, third) : row_blocks(s, layer, third)));
    }
    return found;
  });
}

/// Compares the gradients that the heads receive. Returns the mean |cosine| of dW_Q in the shared
/// layer.
double compare_signals(const Sizes& s, std::uint64_t seed, Notebook& book) {
  const Signals signals = signals_of(s, seed);
  const Survey<Array>& shared_query = signals[0];
  const std::vector<std::string> names = numbered("head", s.heads);
  book.maps("Similarity of the gradients that the heads receive",
            "|cosine| between the heads' blocks of dL/dW_Q in the first draw; L is the squared "
            "error against another layer's outputs. It is 1 for parallel blocks.",
            names, names,
            {{signals.cases()[0].blocks(), absolute(shared_query.samples().front())},
             {signals.cases()[3].blocks(), absolute(signals[3].samples().front())}});
  const std::vector<double> sizes = signals.by_case(mean_size_of);
  const auto by_chance = [&](const Signal& signal) {
    return chance(s.d * (signal.shared ? s.d : s.width));
  };
  book.table(
      sentence("Cosines of dW_Q from {:.2g} to {:.2g} in the shared layer",
               shared_query.smallest(smallest_pair), shared_query.largest(largest_pair)),
      sentence("Cosines between two heads' blocks of a gradient, over all pairs of heads "
               "and {} draws; means with 95 % intervals. The loss is the squared error "
               "against a third layer's outputs. Equal gradients would have 1; \"by chance\" is "
               "the expected |cosine| of independent random directions with as many "
               "elements.",
               draws),
      {"blocks", "gradient", "mean", "smallest", "largest", "mean |cosine|", "by chance"},
      signals.rows(&Signal::blocks, &Signal::gradient, mean_pair, smallest_of(smallest_pair),
                   largest_of(largest_pair), mean_size_of, by_chance));
  if (s.heads <= 8) {
    Notebook::Rows of_pairs;
    for (Index i = 0; i < s.heads; ++i) {
      for (Index j = i + 1; j < s.heads; ++j) {
        std::vector<Value> row{fmt::format("heads {} and {}", i, j)};
        for (std::size_t third = 0; third < 3; ++third) {
          row.emplace_back(double(signals[third].samples().front()[i * s.heads + j]));
        }
        of_pairs.push_back(std::move(row));
      }
    }
    book.table("Cosines of each pair of heads", "The shared layer, first draw.",
               {"", "dW_Q", "dW_K", "dW_V"}, of_pairs);
  }

  // Below cos 45 degrees two directions are closer to orthogonal than to parallel. The inputs and
  // the loss correlate the heads, so no multiple of the chance value follows from theory.
  constexpr double most = 0.5 * std::numbers::sqrt2;
  book.at_most(fmt::format("shared: mean |cosine| between heads' blocks over {} draws", draws),
               largest(std::span(sizes).first(3)), most);
  book.at_most(fmt::format("fused: mean |cosine| between heads' rows over {} draws", draws),
               largest(std::span(sizes).last(3)), most);
  return sizes.front();
}

void run(const LabOptions& options, Notebook& book) {
  const Sizes s{options.width, options.heads, options.head_dim()};
  const Twins twins = draw(s, options.seed, 0);
  draw_matrices(s, book);
  count_weights(s, twins, book);
  add_up_gradients(s, twins, book);
  probe_slices(s, twins, options.seed, book);
  const double mean_size = compare_signals(s, options.seed, book);
  book.answer(sentence(
      "No: it is a fused layer constrained to {} equal diagonal blocks, while in the layers of "
      "PyTorch, BERT and Google every head has its own rows and depends on all of the input. Its "
      "gradient is the sum of the heads' gradients, which are not equal: their mean |cosine| is "
      "{:.2g} for W_Q; it would be 1 for equal gradients and {:.2g} for independent random ones.",
      s.heads, mean_size, chance(s.d * s.d)));
}

}  // namespace shared_heads
}  // namespace

Experiment shared_head_experiment() {
  return {
      .name = "shared-head",
      .asked_in = "a question on why heads share the same K, Q, V matrix",
      .title = "Do the heads share one small matrix?",
      .question =
          "Is one Linear(head_dim, head_dim) for every head's slice of the embedding multi-head "
          "attention, and do all heads get the same gradient?",
      .words = "kqv qkv keys queries values projections weights shared",
      .sentence =
          "No: in multi-head attention every head has its own rows and reads the whole input; if "
          "all heads share a small matrix, each reads only its slice.",
      .computed =
          "Such a layer, with random weights, is compared with a fused one that holds the same "
          "small matrix in every diagonal block. The tape gives the gradients of both, for the "
          "same random cotangent and, to compare the heads' gradients, for the squared error "
          "against a third layer's outputs. Then slices of the input are changed one by one, "
          "in this layer and in layers with fused and with separate heads.",
      .formulas = {"W_{fused} = I_h (x) W", "{dL}/{dW} = sum_h ({dL}/{dW_{fused}})[\"block\" h, h]",
                   "\"weights:\" 3 D^2 \"against\" 3 C^2 = h^2 . 3 D^2"},
      .defaults = {.width = 256, .heads = 8},
      .limits = {.least_heads = 2, .most_heads = 32, .least_head_dim = 4},
      .run = shared_heads::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
