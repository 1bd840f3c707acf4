// shared-head: one small Linear for all heads, as a popular tutorial has it, is another function.
#include <fmt/format.h>

#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/heads/transplant.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/shared_head.hpp"
#include "lab/numbers.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace shared_heads {

constexpr Index batch = 2, tokens = 12;
constexpr int draws = 5;

struct Sizes {
  Index width, heads, d;
};

/// The three projections of a layer by name, and the values or gradients of a tensor.
constexpr const char* roles[] = {"W_Q", "W_K", "W_V"};

/// I_h (x) W: `small` [D, D] in every diagonal block of a [C, C] matrix.
void put_on_diagonal(const Array& small, const Sizes& s, Array& packed, Index first_row) {
  for (Index h = 0; h < s.heads; ++h) {
    for (Index i = 0; i < s.d; ++i) {
      for (Index j = 0; j < s.d; ++j) {
        packed[(first_row + h * s.d + i) * s.width + h * s.d + j] = small[i * s.d + j];
      }
    }
  }
}

/// Block (row head, column head) of one of the three [C, C] matrices in a packed one.
Array block_of(const Array& packed, const Sizes& s, Index third, Index row, Index column) {
  const Index begin = third * s.width + row * s.d;
  return part_of(part_of(packed, 0, begin, begin + s.d), 1, column * s.d, (column + 1) * s.d);
}

Array sum_of(const std::vector<Array>& arrays) {
  Array sum = zeros(arrays.front().shape());
  for (const Array& array : arrays) {
    for (Index i = 0; i < sum.size(); ++i) sum[i] += array[i];
  }
  return sum;
}

/// Cosines of every pair, [n, n], as absolute values.
Array cosines(const std::vector<Array>& blocks) {
  const auto n = static_cast<Index>(blocks.size());
  Array result({n, n});
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double c =
          cosine(blocks[static_cast<std::size_t>(i)], blocks[static_cast<std::size_t>(j)]);
      result[i * n + j] = static_cast<Real>(std::abs(c));
    }
  }
  return result;
}

double mean_off_diagonal(const Array& square) {
  const Index n = square.dim(0);
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) sum += i == j ? 0 : static_cast<double>(square[i * n + j]);
  }
  return sum / static_cast<double>(n * (n - 1));
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

/// Per-head gradient of W_Q in a layer with a fused matrix of its own (no constraint): its rows.
std::vector<Array> row_blocks_of_free_layer(const Sizes& s, const Twins& twins, Rng& rng) {
  FusedHeads layer(AttentionConfig{.width = s.width, .heads = s.heads, .bias = false}, rng);
  layer(twins.x, twins.x, AttentionMask::none()).backward(normal(twins.x.shape(), 1, rng));
  std::vector<Array> blocks;
  for (Index h = 0; h < s.heads; ++h) {
    blocks.push_back(part_of(layer.in_proj_weight.grad(), 0, h * s.d, (h + 1) * s.d));
  }
  return blocks;
}

/// Which heads' outputs move when one slice of the input does: [slice, head], 1 = it moves.
Array moved_heads(const Attention& layer, const Tensor& x, const Sizes& s, Rng& rng) {
  const NoGrad quiet;
  AttentionAsk ask;
  ask.head_out = true;
  const auto head_outputs = [&](const Tensor& input) {
    return layer(input, input, input, AttentionMask::none(), ask).head_out.value();
  };
  const Array before = head_outputs(x);
  Array moved = zeros({s.heads, s.heads});
  for (Index slice = 0; slice < s.heads; ++slice) {
    Array changed = x.value().clone();
    for (Index row = 0; row < batch * tokens; ++row) {
      for (Index i = 0; i < s.d; ++i) changed[row * s.width + slice * s.d + i] += rng.normal();
    }
    const Array after = head_outputs(Tensor(changed));
    for (Index h = 0; h < s.heads; ++h) {
      const double difference =
          largest_difference(part_of(before, 1, h, h + 1), part_of(after, 1, h, h + 1));
      moved[slice * s.heads + h] = difference != 0 ? Real(1) : Real(0);
    }
  }
  return moved;
}

/// Number of ones on the diagonal and beside it.
std::pair<Index, Index> count_moved(const Array& moved) {
  const Index n = moved.dim(0);
  Index on = 0, beside = 0;
  for (Index i = 0; i < n * n; ++i) {
    if (moved[i] > 0) ++(i / n == i % n ? on : beside);
  }
  return {on, beside};
}

void run(const LabOptions& options, Notebook& book) {
  const Sizes s{options.width, options.heads, options.head_dim()};
  const Twins twins = draw(s, options.seed, 0);
  const Index shared_count = count_parameters(*twins.shared) - s.width * s.width;
  const Index fused_count = count_parameters(*twins.fused) - s.width * s.width;
  const double value_difference = relative_difference(twins.y_shared, twins.y_fused);

  // The gradient of each small matrix is the sum of the diagonal blocks of the fused gradient.
  const Array& packed = twins.fused->in_proj_weight.grad();
  double gradient_difference = 0, least_off_diagonal = 1;
  Notebook::Rows gradient_rows;
  Notebook::Step step{"dW_Q", "sum over heads of block (h, h) of the fused dW_Q", {}};
  Index third = 0;
  for (const Linear* small : {&twins.shared->queries, &twins.shared->keys, &twins.shared->values}) {
    std::vector<Array> diagonal;
    double on = 0, all = 0;
    for (Index h = 0; h < s.heads; ++h) {
      diagonal.push_back(block_of(packed, s, third, h, h));
      on += inner(diagonal.back(), diagonal.back());
    }
    const Array matrix = part_of(packed, 0, third * s.width, (third + 1) * s.width);
    all = inner(matrix, matrix);
    const Array sum = sum_of(diagonal);
    const double difference = relative_difference(sum, small->weight.grad());
    gradient_difference = larger(gradient_difference, difference);
    least_off_diagonal = smaller(least_off_diagonal, 1 - on / all);
    gradient_rows.push_back(
        {roles[third], norm(small->weight.grad()), norm(sum), difference, 1 - on / all});
    if (third == 0) {
      step.parts = {{"shared layer, by the tape", small->weight.grad()},
                    {"sum of the diagonal blocks", sum},
                    {"block (0, 0) of it", diagonal.front()}};
    }
    ++third;
  }

  // Which heads see which slice of the input.
  Rng rng(options.seed, "shared-head probes");
  FusedHeads free_layer({.width = s.width, .heads = s.heads, .bias = false}, rng);
  const Array moved_shared = moved_heads(*twins.shared, twins.x, s, rng);
  const Array moved_free = moved_heads(free_layer, twins.x, s, rng);
  const auto [own_shared, others_shared] = count_moved(moved_shared);
  const auto [own_free, others_free] = count_moved(moved_free);

  // Do the heads receive the same signal? Cosines of their blocks, over several draws.
  std::vector<double> shared_means, free_means;
  Array shared_cosines, free_cosines;
  for (int i = 0; i < draws; ++i) {
    const Twins other = draw(s, options.seed, static_cast<std::uint64_t>(i));
    std::vector<Array> diagonal;
    for (Index h = 0; h < s.heads; ++h) {
      diagonal.push_back(block_of(other.fused->in_proj_weight.grad(), s, 0, h, h));
    }
    const Array among_shared = cosines(diagonal);
    const Array among_free = cosines(row_blocks_of_free_layer(s, other, rng));
    shared_means.push_back(mean_off_diagonal(among_shared));
    free_means.push_back(mean_off_diagonal(among_free));
    if (i == 0) {
      shared_cosines = among_shared;
      free_cosines = among_free;
    }
  }
  const Interval shared_mean = mean_interval(shared_means), free_mean = mean_interval(free_means);

  const std::vector<std::string> names = numbered("head", s.heads);
  const Index ratio = s.heads * s.heads;
  book.table(
      fmt::format("The shared layer has {} times fewer projection weights", ratio),
      "Weights of query, key and value together; the output Linear is the same.",
      {"", "one matrix", "weights of Q, K, V"},
      {{"shared: every head the same small matrix", fmt::format("[{0}, {0}]", s.d), shared_count},
       {"fused: every head its own rows", fmt::format("[{0}, {0}]", s.width), fused_count}});
  book.table("Its gradient is the sum of the diagonal blocks of the fused one",
             "The fused layer holds I_h (x) W, so both are the same function. What lies beside the "
             "diagonal is the share of the fused gradient (of its squares) that the constraint "
             "throws away.",
             {"", "norm of dW, shared", "norm of the sum of blocks", "relative difference",
              "beside the diagonal"},
             gradient_rows);
  book.matrices("The same numbers twice", "The upper left corner of each matrix.", {step});
  book.maps("Which head's output moves when one slice of the input does",
            "Rows: the slice of the input that is changed. Columns: heads; filled means that the "
            "head's output moved. In the shared layer a head sees its own slice and nothing else.",
            numbered("slice", s.heads), names,
            {{"shared", moved_shared}, {"fused, as in BERT and PyTorch", moved_free}});
  book.maps(
      "The heads do not receive the same signal",
      fmt::format("|cosine| between the heads' parts of dL/dW_Q. Over {} draws the mean of "
                  "all pairs is {} among the diagonal blocks and {} among the rows of a "
                  "fused layer without the constraint (with 95 % intervals).",
                  draws, shared_mean.text(), free_mean.text()),
      names, names,
      {{"shared, diagonal blocks", shared_cosines}, {"fused, rows of each head", free_cosines}});

  book.equal("weights of Q, K, V: fused over shared",
             static_cast<double>(fused_count) / static_cast<double>(shared_count),
             static_cast<double>(ratio));
  book.at_most("shared layer against the fused one that holds I_h (x) W, relative difference",
               value_difference, same_values);
  book.at_most("gradient of the shared layer against the sum of the diagonal blocks",
               gradient_difference, same_gradients);
  book.more_than("share of the fused gradient beside the diagonal, least of Q, K, V",
                 least_off_diagonal, 0);
  book.equal("shared: heads that move with their own slice", static_cast<double>(own_shared),
             static_cast<double>(s.heads));
  book.equal("shared: heads that move with another's slice", static_cast<double>(others_shared), 0);
  book.equal("fused: pairs of slice and head in which the head moves",
             static_cast<double>(own_free + others_free), static_cast<double>(ratio));
  book.at_most(fmt::format("shared: mean |cosine| between heads' blocks over {} draws", draws),
               shared_mean.value, 0.6);
  book.at_most(fmt::format("fused: mean |cosine| between heads' rows over {} draws", draws),
               free_mean.value, 0.6);
  book.answer(fmt::format(
      "They are not shared in the layers of PyTorch, BERT or Google: there every head has rows of "
      "its own and sees all of the input. The code in the question is another, smaller function: a "
      "fused layer constrained to {} equal diagonal blocks, whose gradient adds up what the heads "
      "send back, and they do not send the same (mean |cosine| {:.2f}).",
      s.heads, shared_mean.value));
}

}  // namespace shared_heads
}  // namespace

Experiment shared_head_experiment() {
  return {.name = "shared-head",
          .text = "001",
          .asked_in = "a question on why heads share the same K, Q, V matrix",
          .title = "Do the heads share one small matrix?",
          .question =
              "Many implementations have Linear(head_dim, head_dim) for query, key and value and "
              "apply it to every head's slice of the embedding. Why are the projections shared "
              "among the heads? Is it because they receive the same signal in back-propagation?",
          .computed =
              "Such a layer, with random weights, is compared with a fused one that holds the same "
              "small matrix in every diagonal block. Gradients of both come from the tape, for the "
              "same random cotangent. Then slices of the input are changed one by one, here and in "
              "a fused layer without the constraint.",
          .formulas = {"W_fused = I_h (x) W", "dL/dW = sum_h (dL/dW_fused)[hD:(h+1)D, hD:(h+1)D]",
                       "weights: 3 D^2 against 3 C^2 = h^2 3 D^2"},
          .defaults = {.width = 256, .heads = 8},
          .limits = {.least_heads = 2, .most_heads = 32, .least_head_dim = 4},
          .run = shared_heads::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
