// head-count-training: layers with 1 to 8 heads, trained from the same start on a task in which
// every query needs two keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/key_tasks.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace head_count_training {

constexpr Index tokens = key_tokens, batch_size = 32, test_size = 128, steps = 200,
                curve_points = 8;
constexpr int seeds = 10;

/// The mean squared error over the variance of the targets, which is 1.
Tensor error_of(const Tensor& y, const KeyBatch& batch) {
  return squared_error(slice(y, 2, 0, batch.target.dim(2)), batch.target);
}

/// The results of one trained layer on its test set.
struct Trained {
  std::vector<double> curve;                 // test error after 0, steps / 8, ... steps
  std::array<std::vector<double>, 2> found;  // of each head: mean weight on the key of a relation
  double rank = 0;                           // effective rank of the scores, mean over heads
  double similarity = 0;                     // mean cosine of the maps of two heads
  std::vector<Array> maps;                   // of the first test example, [T, T] of each head

  double error() const { return curve.back(); }
  double first_error() const { return curve.front(); }
  /// The largest weight that a head gives to the key of a relation.
  double best(std::size_t relation) const { return largest(found[relation]); }
  /// The smaller of the two: both relations are found only if it is large.
  double both() const { return smaller(best(0), best(1)); }
};

/// The effective rank of the scores S = Q K^T of one head over all pairs of tokens: (sum s^2)^2 /
/// sum s^4 over the singular values s of S, at most D. The s^2 are the eigenvalues of A B, with A =
/// Q^T Q and B = K^T K.
double effective_rank(const Array& q, const Array& k) {
  const Array ab = matmul(matmul(transposed(q), q), matmul(transposed(k), k)),
              square = matmul(ab, ab);
  double trace = 0, of_square = 0;
  for (Index i = 0; i < ab.dim(0); ++i) {
    trace += double(ab[i * ab.dim(0) + i]);
    of_square += double(square[i * ab.dim(0) + i]);
  }
  return trace * trace / of_square;
}

double rank_of_scores(const FusedHeads& layer, const Tensor& x) {
  const Index width = layer.config().width, d = layer.head_dim();
  const Array packed = linear(x, layer.in_proj_weight, layer.in_proj_bias).value();
  const Array rows = packed.reshaped({x.dim(0) * tokens, 3 * width});
  double sum = 0;
  for (Index h = 0; h < layer.config().heads; ++h) {
    sum += effective_rank(slice(rows, {1, h * d, (h + 1) * d}),
                          slice(rows, {1, width + h * d, width + (h + 1) * d}));
  }
  return sum / double(layer.config().heads);
}

/// Reads the maps [B, H, T, T] of the test set.
void read_maps(const Array& maps, const KeyBatch& test, Trained& into) {
  const Index heads = maps.dim(1), square = tokens * tokens;
  std::vector<Array> of_head;  // [B, T, T]
  for (Index h = 0; h < heads; ++h) {
    of_head.push_back(slice(maps, {1, h, h + 1}));
    for (std::size_t relation = 0; relation < 2; ++relation) {
      double sum = 0;
      const std::vector<Index>& keys = test.keys[relation];
      for (std::size_t row = 0; row < keys.size(); ++row) {
        sum += double(of_head.back()[Index(row) * tokens + keys[row]]);
      }
      into.found[relation].push_back(sum / double(keys.size()));
    }
    into.maps.push_back(Array({tokens, tokens}));
    std::copy_n(of_head.back().data(), square, into.maps.back().data());
  }
  for (Index h = 0; h < heads; ++h) {
    for (Index other = 0; other < h; ++other) {
      into.similarity += cosine(at(of_head, h), at(of_head, other));
    }
  }
  if (heads > 1) into.similarity /= double(heads * (heads - 1)) / 2;
}

std::unique_ptr<FusedHeads> start(Index width, Index heads, std::uint64_t seed) {
  Rng rng(seed, "head-count-training start");
  return std::make_unique<FusedHeads>(AttentionConfig{.width = width, .heads = heads}, rng);
}

Trained train(Index width, Index heads, std::uint64_t seed) {
  const std::unique_ptr<FusedHeads> layer = start(width, heads, seed);
  AdamW adam(*layer, {.weight_decay = 0});
  Trainer trainer(adam, RateOptions{.shape = RateShape::cosine, .peak = 2e-2, .steps = steps},
                  {.seed = seed});
  const KeyBatch test = two_relations(test_size, width, Rng(seed, "head-count-training test"));
  const auto output = [&](const KeyBatch& batch, const AttentionAsk& ask = {}) {
    return (*layer)(batch.x, batch.x, batch.values, AttentionMask::none(), ask);
  };
  Trained trained;
  const auto measure = [&] {
    const NoGrad quiet;
    trained.curve.push_back(double(error_of(output(test).y, test).item()));
  };
  measure();
  while (trainer.steps() < steps) {
    const KeyBatch batch = two_relations(
        batch_size, width,
        Rng(seed, "head-count-training batches", static_cast<std::uint64_t>(trainer.steps())));
    trainer.step([&] { return error_of(output(batch).y, batch); });
    if (trainer.steps() % (steps / curve_points) == 0) measure();
  }
  const NoGrad quiet;
  AttentionAsk ask;
  ask.maps = true;
  read_maps(output(test, ask).maps.value(), test, trained);
  trained.rank = rank_of_scores(*layer, test.x);
  return trained;
}

/// All seeds, by the number of heads.
using Trials = Grid<Index, Trained>;

/// The largest difference between the parameters that two numbers of heads start from.
double starts_apart(const LabOptions& options, const std::vector<Index>& counts) {
  double apart = 0;
  for (std::uint64_t draw = 0; draw < seeds; ++draw) {
    const std::uint64_t seed = seed_of_draw(options.seed, draw);
    const auto first = start(options.width, 1, seed);
    for (const Index heads : counts) {
      const auto other = start(options.width, heads, seed);
      apart = larger(
          apart, largest_difference(first->in_proj_weight.value(), other->in_proj_weight.value()));
      apart = larger(apart, largest_difference(first->out_proj.weight.value(),
                                               other->out_proj.weight.value()));
    }
  }
  return apart;
}

void show_curves(const Trials& trials, Notebook& book) {
  std::vector<Notebook::Series> lines;
  for (const Index heads : trials.cases()) {
    Notebook::Series line{fmt::format("{} {}", heads, heads == 1 ? "head" : "heads"), {}};
    for (Index point = 0; point <= curve_points; ++point) {
      const auto error = [&](const Trained& t) { return at(t.curve, point); };
      line.points.emplace_back(double(point * steps / curve_points),
                               trials.of(heads).mean(error).value);
    }
    lines.push_back(std::move(line));
  }
  book.chart("Test error during training, by number of heads",
             sentence("Mean squared error over the variance of the targets; mean of {} seeds. No "
                      "single head can fall below 0.5.",
                      seeds),
             "step", "error", false, lines);
  book.figure();
}

void show_maps(const Trained& one, const Trained& several, const LabOptions& options,
               const KeyBatch& test, Notebook& book) {
  std::vector<Notebook::Map> maps;
  for (std::size_t relation = 0; relation < 2; ++relation) {
    Array wanted = zeros({tokens, tokens});
    for (Index t = 0; t < tokens; ++t) wanted[t * tokens + at(test.keys[relation], t)] = 1;
    maps.push_back({relation == 0 ? "needed: token before" : "needed: token pointed to", wanted});
  }
  maps.push_back({"the only head", one.maps[0]});
  for (std::size_t h = 0; h < several.maps.size(); ++h) {
    maps.push_back({fmt::format("head {} of {}", h, options.heads), several.maps[h]});
  }
  book.maps("Attention weights of one test example after training",
            "The first seed. Rows are queries, columns are keys.", numbered("token", tokens),
            numbered("token", tokens), maps);
}

void run(const LabOptions& options, Notebook& book) {
  const std::vector<Index> counts = counts_of_heads(options.width, 8, options.heads, 4);
  const Trials trials(counts, seeds, [&](Index heads, std::uint64_t draw) {
    return train(options.width, heads, seed_of_draw(options.seed, draw));
  });
  const Survey<Trained>&one = trials[0], &chosen = trials.of(options.heads);
  const auto gain_over_one = [&](const Survey<Trained>& runs) {
    return paired_contrast(one.all(&Trained::error), runs.all(&Trained::error)).interval;
  };
  const auto gain = [&](const Survey<Trained>& runs) {
    const auto interval = gain_over_one(runs);
    return interval ? Value(*interval) : Value();  // none of one head over itself
  };
  const auto found = [](std::size_t relation) {
    return [relation](const Survey<Trained>& runs) {
      return rate_interval(runs.count([&](const Trained& t) { return t.best(relation) > 0.5; }),
                           seeds);
    };
  };
  Notebook::Rows rows = trials.rows(
      as_it_is, [&](Index heads) { return options.width / heads; }, &Trained::error, gain,
      &Trained::rank, &Trained::similarity);
  rows.front().back() = {};  // one head has no similarity
  double smallest_gain = 1e300;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    smallest_gain = smaller(smallest_gain, gain_over_one(trials[i]).value().low);
  }
  const std::vector<double> errors = trials.by_case(&Trained::error);
  const Index best = std::min_element(errors.begin(), errors.end()) - errors.begin();
  const Index best_heads = at(counts, best);
  const double best_error = at(errors, best), error_of_one = errors[0];
  show_curves(trials, book);
  book.table(
      sentence("After {} steps the error is {:.2g} with one head and {:.2g} with {}", steps,
               error_of_one, best_error, best_heads),
      sentence("Means of {} seeds with 95 % intervals, on {} test sequences each. All layers of a "
               "seed start from the same {:,} parameters and see the same batches. The gain is the "
               "error of one head minus that of h heads, paired by seed. The effective rank of the "
               "scores, (sum s^2)^2 / sum s^4 over the singular values s of Q_h K_h^T on all test "
               "tokens, is at most the features per head. Similarity is the mean cosine between "
               "the maps of two heads.",
               seeds, test_size, 4 * options.width * (options.width + 1)),
      {"heads", "features per head", "test error", "gain over one head", "rank of the scores",
       "similarity of heads"},
      rows);
  book.table(
      "One head finds one of the two relations, several heads find both",
      sentence("The share of {} seeds in which some head gives more than half of its weight, "
               "on average, to the token before, and to the token pointed to, with 95 % "
               "intervals. \"Weight on both\" is the weight on each of the two keys by the "
               "best head for it, the smaller one; mean with 95 % interval. The weights of "
               "one softmax sum to 1, so a single head cannot have more than 0.5 on both.",
               seeds),
      {"heads", "found the token before", "found the token pointed to", "weight on both"},
      trials.rows(as_it_is, found(0), found(1), &Trained::both));
  show_maps(one.samples().front(), chosen.samples().front(), options,
            two_relations(test_size, options.width,
                          Rng(seed_of_draw(options.seed, 0), "head-count-training test")),
            book);

  book.equal("largest difference between the starting weights of two numbers of heads",
             starts_apart(options, counts), 0);
  // The bound of the text is 0.5; a finite test set can be off by a few percent.
  book.at_least("one head: mean test error", error_of_one, 0.47);
  book.at_most("one head: largest weight on both keys, any seed", one.largest(&Trained::both),
               0.5 + same_values);
  book.more_than("gain of several heads over one: smallest lower end of the 95 % intervals",
                 smallest_gain, 0);
  const Index reached =
      trials.of(best_heads).count([](const Trained& t) { return t.error() < 0.4; });
  book.at_least(fmt::format("best number of heads: seeds of {} below an error of 0.4, which no "
                            "single head can reach",
                            seeds),
                double(reached), 6);
  const Index on_before = one.count([](const Trained& t) { return t.best(0) > t.best(1); });
  book.answer(
      sentence("Each head has its own softmax, so each can point to another key: with one head the "
               "test error stays at {:.2g}, with {} heads, from the same weights, it falls to "
               "{:.2g}. The output of one head is a linear function of one mixture of the tokens, "
               "which explains at most half of two independent contents.",
               error_of_one, options.heads, chosen.mean(&Trained::error).value),
      sentence("The single head prefers the token before in {} of {} seeds, the other in the rest. "
               "The {} heads give {:.2g} of their weight to each of the two keys; the smallest "
               "error is {:.2g}, with {} heads.",
               on_before, seeds, options.heads, chosen.mean(&Trained::both).value, best_error,
               best_heads));
}

}  // namespace head_count_training
}  // namespace

Experiment head_count_training_experiment() {
  return {
      .name = "head-count-training",
      .asked_in = "a question on nn.MultiheadAttention(512, heads)",
      .title = "Can one head do the work of two?",
      .question =
          "How can multiple heads focus on different parts of the input, similar to the filters "
          "of a convolution, if the parameters are the same for any number of heads?",
      .computed =
          "A token has a random content, its position and a pointer to another position. For "
          "each token the layer must return two contents: that of the token before and that of "
          "the token pointed to. Layers with 1 to 8 heads train from the same weights on the "
          "same batches, with 10 seeds. The values contain the contents only. After training, "
          "the maps, the rank of the scores and the similarity of the heads are measured.",
      .formulas = {"\"one head:\" y_t = W m_t + b, m_t = sum_j p_{tj} c_j",
                   "E|(c_i, c_j) - M m|^2 >= d \"for rank\" M = d: \"at least half of\" 2d",
                   "h \"heads:\" y_t = sum_h W_h sum_j p_{tj}^h c_j + b"},
      .defaults = {.width = 32, .heads = 2},
      .limits = {.least_heads = 2, .most_heads = 8, .least_head_dim = 4, .most_width = 64},
      .run = head_count_training::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
