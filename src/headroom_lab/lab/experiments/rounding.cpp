// rounding: the same function in two layouts, trained in lockstep until rounding makes them
// diverge.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace roundings {

constexpr int draws = 5;

// ---------------------------------------------------------------- one gradient

constexpr Index rows = 24;  // batch times tokens

/// Errors of dX = dQKV W, computed as one product and as 3 h small ones, and their difference from
/// each other: max |difference| / max |dX|.
struct Errors {
  double one = 0, many = 0, between = 0;
};

/// The product with every sum in long double.
Array exact_product(const Array& dy, const Array& weight) {
  const Index out = weight.dim(0), in = weight.dim(1);
  Array dx({rows, in});
  for (Index r = 0; r < rows; ++r) {
    std::vector<long double> sums(static_cast<std::size_t>(in), 0);
    for (Index o = 0; o < out; ++o) {
      const auto factor = static_cast<long double>(dy[r * out + o]);
      const Real* row = weight.data() + o * in;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += factor * static_cast<long double>(row[i]);
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      dx[r * in + Index(i)] = Real(sums[i]);
    }
  }
  return dx;
}

/// One random dQKV [rows, 3 C] and W [3 C, C], for the backward passes of both layouts.
struct OneGradient {
  Array x, dy, weight, exact;
};

OneGradient draw_gradient(Index width, Rng& rng) {
  OneGradient drawn{normal({rows, width}, 1, rng),
                    normal({rows, 3 * width}, 1, rng),
                    xavier_uniform({3 * width, width}, width, width, rng),
                    {}};
  drawn.exact = exact_product(drawn.dy, drawn.weight);
  return drawn;
}

Errors errors_of(const OneGradient& drawn, Index heads) {
  const Index width = drawn.x.dim(1), d = width / heads;
  const Tensor of_one(drawn.x, true), of_many(drawn.x, true);
  linear(of_one, parameter(drawn.weight)).backward(drawn.dy);
  for (Index third = 0; third < 3; ++third) {  // query, key, value; their gradients add up in dX
    std::vector<Tensor> weights;
    for (Index h = 0; h < heads; ++h) {
      const Index begin = third * width + h * d;
      weights.push_back(parameter(slice(drawn.weight, {0, begin, begin + d})));
    }
    linear_side_by_side(of_many, weights, {})
        .backward(slice(drawn.dy, {1, third * width, (third + 1) * width}));
  }
  return {relative_difference(of_one.grad(), drawn.exact),
          relative_difference(of_many.grad(), drawn.exact),
          relative_difference(of_one.grad(), of_many.grad())};
}

/// Shows the errors for every number of heads; returns the largest of each.
Errors show_one_gradient(const LabOptions& options, Notebook& book) {
  std::vector<OneGradient> drawn;
  Rng rng(options.seed, "rounding gradient");
  for (int i = 0; i < draws; ++i) drawn.push_back(draw_gradient(options.width, rng));
  const Grid<Index, Errors> seen(
      counts_of_heads(options.width, 16, options.heads), draws,
      [&](Index heads, std::uint64_t draw) { return errors_of(drawn[draw], heads); });
  const Survey<Errors> all = seen.all();
  const Errors most{all.largest(&Errors::one), all.largest(&Errors::many),
                    all.largest(&Errors::between)};
  book.table(
      sentence("One gradient: the error is at most {:.1e} by one product, {:.1e} by small ones",
               most.one, most.many),
      sentence("dX = dQKV W as one product, and as the sum of 3 h small ones, compared "
               "with sums in long double: max |difference| / max |dX|, means of {} draws "
               "with 95 % intervals.",
               draws),
      {"small products", "one product, error", "small products, error", "difference"},
      seen.rows([](Index heads) { return 3 * heads; }, &Errors::one, &Errors::many,
                &Errors::between));
  return most;
}

// ---------------------------------------------------------------- training in lockstep

constexpr Index steps = 400, measure_every = 5, batch_size = 16;
/// Adam's learning rate is this over the width: high, but the model learns, and narrow and wide
/// models amplify rounding about equally. The lower one is shown for comparison.
constexpr double high_rate = 0.8, low_rate = 0.08;
constexpr double levels[] = {1e-6, 1e-4, 1e-2};  // of the difference of the parameters

/// One seed: the difference of the parameters at each measured step, and the last losses.
struct Trajectory {
  std::vector<std::pair<Index, double>> differences;
  double forward = 0;                        // difference of the logits before the first step
  double separate_loss = 0, fused_loss = 0;  // means of the last tenth
};

std::unique_ptr<Seq2Seq> make_model(const LabOptions& options, const Seq2SeqTask& task,
                                    Layout layout, Rng& rng) {
  ModelConfig config;
  config.block = {.width = options.width,
                  .heads = options.heads,
                  .hidden = 2 * options.width,
                  .layout = layout};
  config.layers = 1;
  config.source_vocabulary = task.source.size();
  config.target_vocabulary = task.target.size();
  config.longest = std::max(task.longest_source(), task.longest_target()) + 8;
  return std::make_unique<Seq2Seq>(config, rng);
}

Trajectory train_in_lockstep(const LabOptions& options, const Seq2SeqTask& task,
                             double rate_times_width, std::uint64_t seed) {
  Rng rng(options.seed, "rounding training", seed);
  const auto separate = make_model(options, task, Layout::separate, rng);
  const auto fused = make_model(options, task, Layout::fused, rng);
  transplant(*separate, *fused);
  Adam of_separate(*separate, {.beta2 = 0.98}), of_fused(*fused, {.beta2 = 0.98});
  Seq2SeqLoader loader(task, batch_size, rng.word());
  Trajectory result;
  for (Index step = 1; step <= steps; ++step) {
    const Seq2SeqBatch batch = loader.next();
    if (step == 1) {
      const NoGrad quiet;
      const auto logits = [&](const Seq2Seq& model) {
        return model(batch.source, batch.source_lengths, batch.target_in).value();
      };
      result.forward = relative_difference(logits(*separate), logits(*fused));
    }
    const auto take_step = [&](Seq2Seq& model, Adam& optimizer) {
      const Tensor loss = training_loss(model, batch);
      loss.backward();
      optimizer.step(rate_times_width / double(options.width));
      optimizer.zero_grad();
      const auto last = double(steps / 10);
      return step > steps - steps / 10 ? double(loss.item()) / last : 0;
    };
    result.separate_loss += take_step(*separate, of_separate);
    result.fused_loss += take_step(*fused, of_fused);
    if (step == 1 || step % measure_every == 0) {
      result.differences.emplace_back(step, parameter_distance(*separate, *fused).largest);
    }
  }
  return result;
}

/// The first measured step at which the parameters differ by more than `level`.
std::optional<Index> passes(const Trajectory& trajectory, double level) {
  for (const auto& [step, difference] : trajectory.differences) {
    if (difference > level) return step;
  }
  return std::nullopt;
}

/// Powers of ten in 100 steps, by least squares of log10(difference) on the step, from the first
/// step until the difference is 0.01; after that it hardly grows.
double growth_of(const Trajectory& trajectory) {
  std::vector<std::pair<double, double>> points;
  for (const auto& [step, difference] : trajectory.differences) {
    points.emplace_back(double(step), std::log10(std::max(difference, 1e-300)));
    if (difference > levels[2] && points.size() > 1) break;
  }
  return 100 * least_squares_slope(points);
}

/// The parameters' differences of all seeds at the i-th measured step.
std::vector<double> differences_at(const Survey<Trajectory>& all, std::size_t i) {
  return all.all(
      [i](const Trajectory& one) { return std::max(one.differences[i].second, 1e-300); });
}

void draw_trajectories(const Survey<Trajectory>& all, const Survey<Trajectory>& slow,
                       Notebook& book) {
  Notebook::Series middle{"geometric mean", {}}, most{"largest", {}}, least{"smallest", {}};
  Notebook::Series of_slow{"at a tenth of the learning rate", {}};
  const Trajectory& first = all.samples().front();
  for (std::size_t i = 0; i < first.differences.size(); ++i) {
    const auto at = double(first.differences[i].first);
    const std::vector<double> values = differences_at(all, i);
    middle.points.emplace_back(at, geometric_mean(values).value);
    most.points.emplace_back(at, largest(values));
    least.points.emplace_back(at, smallest(values));
    of_slow.points.emplace_back(at, geometric_mean(differences_at(slow, i)).value);
  }
  book.chart(sentence("The layouts differ by {:.1e} after one step and by {:.1e} after {}",
                      middle.points.front().second, middle.points.back().second, steps),
             sentence("Geometric means of the largest relative difference of a parameter tensor "
                      "between the two layouts, trained on the same batches; {} seeds, at Adam's "
                      "learning rate {} / C and at a tenth of it. Key biases, which have no "
                      "effect, are left out.",
                      draws, high_rate),
             "step", "difference of the parameters", true, {middle, most, least, of_slow});
  book.figure();
}

/// The number of seeds that passed a level, and the steps in words: "44 [39, 50]" if all did.
struct Passed {
  std::size_t seeds = 0;
  Value text;
};

Passed passed(const Survey<Trajectory>& all, double level) {
  std::vector<double> at;
  for (const Trajectory& one : all.samples()) {
    if (const auto step = passes(one, level)) at.push_back(double(*step));
  }
  if (std::ssize(at) == draws) return {at.size(), geometric_mean(at)};
  return {at.size(), sentence("{} of {} seeds within {} steps", at.size(), draws, steps)};
}

void show_levels(const Survey<Trajectory>& all, const Survey<Trajectory>& slow, Notebook& book) {
  Notebook::Rows table;
  for (const double level : levels) {
    table.push_back(
        {fmt::format("{:.0e}", level), passed(all, level).text, passed(slow, level).text});
  }
  book.table("Steps until the difference exceeds a level",
             sentence("Step of the first measurement above it, measured every {} steps; "
                      "geometric mean of {} seeds with 95 % interval.",
                      measure_every, draws),
             {"level", "step", "step at a tenth of the learning rate"}, table);
}

/// The first measured step at which any seed's parameters differ by more than `level`; infinity if
/// those of none do.
double earliest_pass(const Survey<Trajectory>& all, double level) {
  constexpr double never = std::numeric_limits<double>::infinity();
  return all.smallest([&](const Trajectory& one) {
    const auto step = passes(one, level);
    return step ? double(*step) : never;
  });
}

/// The statistics over all seeds.
struct Summary {
  Interval growth;     // powers of ten in 100 steps
  Interval loss_gap;   // loss at the end, separate - fused
  double first = 0;    // geometric mean of the difference after the first step
  double forward = 0;  // largest difference of the logits before training
  double rise = 1;     // geometric mean of the largest difference over the first one
};

/// "11 [9.5, 13]": steps in which the difference grows tenfold, for a growth whose interval is
/// positive.
Interval tenfold(const Interval& growth) {
  return {100 / growth.value, 100 / growth.high, 100 / growth.low};
}

Summary show_seeds(const Survey<Trajectory>& all, Notebook& book) {
  const auto gap = [](const Trajectory& one) { return one.separate_loss - one.fused_loss; };
  Summary summary{.growth = all.mean(growth_of),
                  .loss_gap = all.mean(gap),
                  .first = geometric_mean(differences_at(all, 0)).value,
                  .forward = all.largest(&Trajectory::forward)};
  Notebook::Rows table;
  for (const Trajectory& one : all.samples()) {
    const double first = one.differences.front().second;
    double most = 0;
    for (const auto& [step, difference] : one.differences) most = larger(most, difference);
    summary.rise *= std::pow(most / first, 1 / double(draws));
    table.push_back({table.size(), first, most, growth_of(one), one.separate_loss, one.fused_loss});
  }
  book.table("Results of each seed",
             "Difference of the parameters after the first step and its maximum, powers of ten in "
             "100 steps (least squares until 1e-2), losses of the last tenth of the steps.",
             {"seed", "after step 1", "largest", "growth", "loss, separate", "loss, fused"}, table);
  return summary;
}

void run(const LabOptions& options, Notebook& book) {
  const Errors errors = show_one_gradient(options, book);
  const auto task = std::get<Seq2SeqTask>(
      make_task("sort", {.seed = options.seed, .train = 2000, .validation = 1, .test = 1}));
  const auto all_seeds = [&](double rate) {
    return Survey<Trajectory>(
        draws, [&](std::uint64_t seed) { return train_in_lockstep(options, task, rate, seed); });
  };
  const Survey<Trajectory> all = all_seeds(high_rate), slow = all_seeds(low_rate);
  draw_trajectories(all, slow, book);
  show_levels(all, slow, book);
  const Summary summary = show_seeds(all, book);
  const Passed diverged = passed(all, levels[2]);

  book.at_most("dX as one product against sums in long double", errors.one, same_layouts);
  book.at_most("dX as 3 h small products against sums in long double", errors.many, same_layouts);
  book.at_most("dX, one product against small ones", errors.between, same_layouts);
  book.at_most("logits before training, separate against fused", summary.forward, same_layouts);
  // In double the first step may happen to differ by nothing, so only float has a lower bound.
  constexpr const char* first = "difference of the parameters after the first step, geometric mean";
  if (is_double) {
    book.at_most(first, summary.first, 1e-9);
  } else {
    book.within(first, summary.first, 1e-9, 0.1);
  }
  book.at_least("geometric mean of the largest difference over that after the first step",
                summary.rise, 10);
  book.more_than("growth, powers of ten in 100 steps, lower end of the interval",
                 summary.growth.low, 0);
  if (options.width == 32 && options.heads == 4) {
    book.at_least("seeds whose layouts come to differ by 1 %", double(diverged.seeds), 3);
    // In double the difference begins nine powers of ten lower, so it takes longer.
    book.within("earliest step at which a seed's layouts differ by 1e-6",
                earliest_pass(all, levels[0]), by_precision(20, 1), by_precision(steps, 15));
  }
  const Text reached =
      Index(diverged.seeds) == draws
          ? sentence("the parameters differ by 1 % at step {}", diverged.text)
          : sentence("the parameters of {} of {} seeds differ by 1 % within {} steps",
                     diverged.seeds, draws, steps);
  book.answer(
      sentence(
          "Rounding makes their gradients dX differ by at most {:.1e} of the maximum; at the high "
          "learning rate the difference of the parameters grows tenfold in {} steps, and {}. At a "
          "tenth of this learning rate the parameters differ by {:.1e} after {} steps.",
          errors.between, tenfold(summary.growth), reached,
          geometric_mean(differences_at(slow, slow.samples().front().differences.size() - 1)).value,
          steps),
      sentence("The loss at the end, that of the separate layout minus that of the fused one, is "
               "{} on average over {} seeds, with its 95 % interval.",
               summary.loss_gap, draws));
}

}  // namespace roundings
}  // namespace

Experiment rounding_experiment() {
  return {
      .name = "rounding",
      .title = "How long do two layouts stay equal during training?",
      .question =
          "How far and how fast does rounding make two layouts with the same weights diverge in "
          "training, which sum the gradient of their input in different orders?",
      .computed =
          "First one gradient dX, as one product and as 3 h small ones, is compared with sums in "
          "long double. Then a small encoder-decoder (one layer each) learns to sort digits in "
          "both layouts, on the same batches with Adam at the learning rate 0.8 / C and at a tenth "
          "of it, and the parameters are compared during training. The task and the high learning "
          "rate were chosen among several so that most seeds diverge; at lower ones they diverge "
          "later or not at all.",
      .formulas = {"\"fused:\" dX = dQKV W",
                   "\"separate:\" dX = sum_h dQ_h W_Q^h + sum_h dK_h W_K^h + sum_h dV_h W_V^h",
                   "\"difference\" = \"largest over the tensors of\" {max |p_{separate} - "
                   "p_{fused}|}/{max |p|}"},
      .defaults = {.width = 32, .heads = 4},
      .limits = {.least_head_dim = 4, .most_width = 128},
      .run = roundings::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
