// importance-over-training: sensitivities of heads and the cost of removing them, at several points
// of training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/gate_gradients.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "lab/key_model.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace importance_over_training {

constexpr int seeds = 10;
constexpr Index points[] = {0, 5, 10, 20, 40, 80, 160, 320};  // steps
constexpr std::size_t count = std::size(points);
constexpr Index batch_size = 32, measured_examples = 128;

/// The noise of the targets: a task that can be solved exactly, and one with a rest of the loss.
constexpr Real noises[] = {0, Real(0.5)};

/// The heads of one model at one point of its training.
struct Measured {
  double loss;                      // of the measured examples
  std::vector<double> slope;        // of each head: |dL/dg|, L the mean loss
  std::vector<double> sensitivity;  // E_x |dL(x)/dg|
  std::vector<double> cost;         // rise of the mean loss without the head
  double euler;                     // largest |dL/dg - <W_O, dL/dW_O>| over the largest |dL/dg|

  double mean_slope() const { return mean_of(slope); }
  double mean_sensitivity() const { return mean_of(sensitivity); }
  double mean_cost() const { return mean_of(cost); }
  double mean_cost_size() const {
    double sum = 0;
    for (const double c : cost) sum += std::abs(c);
    return sum / double(cost.size());
  }
  /// 1 where the loss is linear in the gates.
  double cost_over_slope() const { return mean_cost_size() / mean_slope(); }
  double log_ratio() const { return std::log(cost_over_slope()); }
  double slope_order() const { return rank_correlation(slope, cost); }
  double sensitivity_order() const { return rank_correlation(sensitivity, cost); }
};

/// <W_O, dL/dW_O> of every head, by the gradients of the parameters.
std::vector<double> by_parameters(Learner& learner) {
  zero_grad(learner.model());
  learner.loss().backward();
  std::vector<double> products = gate_gradients(learner.model());
  zero_grad(learner.model());
  return products;
}

Measured measure(Learner& learner) {
  HeadGame game(learner, ExampleSet::validation, measured_examples);
  Measured result;
  result.loss = game.value(game.all());
  std::vector<HeadSet> others;
  for (Index h = 0; h < game.size(); ++h) others.push_back(game.all().without(h));
  for (const double loss : game.values(others)) result.cost.push_back(loss - result.loss);
  result.sensitivity.assign(static_cast<std::size_t>(game.size()), 0);
  const auto by_example = game.example_gradients([](Index, Index) { return 1.0; });
  for (const std::vector<double>& slopes : by_example) {
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      result.sensitivity[h] += std::abs(slopes[h]) / double(by_example.size());
    }
  }
  const std::vector<double> gates(static_cast<std::size_t>(game.size()), 1);
  const std::vector<double> slopes = game.gradient(gates);
  const std::vector<double> products = by_parameters(learner);
  double apart = 0;
  for (std::size_t h = 0; h < slopes.size(); ++h) {
    result.slope.push_back(std::abs(slopes[h]));
    apart = larger(apart, std::abs(slopes[h] - products[h]));
  }
  // The sum over the examples cancels more and more: rounding is relative to their sensitivities.
  result.euler = apart / largest(result.sensitivity);
  return result;
}

KeyBatch draw(Index examples, Index width, Real noise, Rng rng) {
  KeyBatch batch = two_relations(examples, width, rng);
  const Array of_noise = normal(batch.target.shape(), noise, rng);
  batch.target = Tensor(batch.target.value().clone()) + Tensor(of_noise);
  return batch;
}

/// One training run, measured at all points.
std::vector<Measured> train(const LabOptions& options, Real noise, std::uint64_t seed) {
  const auto batch_of = [&](Index examples, const char* stream, Index index) {
    return draw(examples, options.width, noise,
                Rng(seed, stream, static_cast<std::uint64_t>(index)));
  };
  const KeyBatch held_out = batch_of(measured_examples, "importance-over-training held out", 0);
  Rng rng(seed, "importance-over-training start");
  KeyModel model(options.width, held_out.target.dim(2), Layout::fused,
                 {.width = options.width, .heads = options.heads}, rng);
  KeyExamples learner(model, held_out);
  // Weight decay would hold <W_O, dL/dW_O> away from 0.
  AdamW adam(model, {.weight_decay = 0});
  Trainer trainer(adam,
                  RateOptions{.shape = RateShape::cosine, .peak = 1e-2, .steps = points[count - 1]},
                  {.seed = seed});
  std::vector<Measured> results;
  for (const Index point : points) {
    while (trainer.steps() < point) {
      const KeyBatch batch =
          batch_of(batch_size, "importance-over-training batches", trainer.steps());
      trainer.step([&] { return squared_error(model(batch.x), batch.target); });
    }
    results.push_back(measure(learner));
  }
  return results;
}

/// All seeds, by the point.
using AtPoints = Grid<Index, Measured>;

AtPoints measure_all(const LabOptions& options, Real noise) {
  return AtPoints({std::begin(points), std::end(points)}, seeds, [&](std::uint64_t draw) {
    return train(options, noise, seed_of_draw(options.seed, draw));
  });
}

/// "without noise", "with noise"
const char* name_of(Real noise) { return noise == 0 ? "without noise" : "with noise"; }

/// The geometric mean of a part, as a column.
template <class Part>
auto geometric(Part part) {
  return [part](const Survey<Measured>& here) { return geometric_mean(here.all(part)); };
}

/// The mean difference of a part of later and earlier measurements, paired by seed.
template <class Part>
Interval change(const Survey<Measured>& later, const Survey<Measured>& earlier, Part part) {
  return paired_contrast(later.all(part), earlier.all(part)).interval.value();
}

/// The point after the first one with the largest mean slope.
std::size_t peak_of(const AtPoints& at_points) {
  const std::vector<double> slopes = at_points.by_case(&Measured::mean_slope);
  return std::size_t(std::max_element(slopes.begin() + 1, slopes.end()) - slopes.begin());
}

void show(const AtPoints& at_points, Real noise, const LabOptions& options, Notebook& book) {
  book.chart(
      sentence("Slope, sensitivity and removal cost during training {}", name_of(noise)),
      sentence("Means over the heads of a model, geometric means over {} seeds. The cost is the "
               "|rise| of the loss without the head.",
               seeds),
      "step", "loss", true,
      {at_points.series("slope |dL/dg|", as_it_is, geometric(&Measured::mean_slope)),
       at_points.series("sensitivity E |dL(x)/dg|", as_it_is,
                        geometric(&Measured::mean_sensitivity)),
       at_points.series("removal cost", as_it_is, geometric(&Measured::mean_cost_size))});
  if (noise == 0) book.figure();
  const auto ratio = geometric(&Measured::cost_over_slope);
  const std::vector<double> ratios = at_points.by_case(ratio);
  book.table(
      sentence("Training {}: cost over slope is {:.2g} at first and {:.2g} after {} steps",
               name_of(noise), ratios.front(), ratios.back(), points[count - 1]),
      sentence("Means of {} seeds with 95 % intervals, on {} sequences that are not trained on. "
               "Slope, sensitivity and removal cost are means over the {} heads. Cost over slope "
               "is the sum of |cost| over the sum of |slope|: 1 where the loss is linear in the "
               "gates. Order: Spearman's rank correlation with the cost over the heads; 1 is the "
               "same order, 0 is none.",
               seeds, measured_examples, options.heads),
      {"step", "loss", "slope", "sensitivity", "removal cost", "cost / slope", "order by slope",
       "order by sensitivity"},
      at_points.rows(as_it_is, &Measured::loss, &Measured::mean_slope, &Measured::mean_sensitivity,
                     &Measured::mean_cost, ratio, &Measured::slope_order,
                     &Measured::sensitivity_order));
}

/// "from 0.15 to 0.001 (lower)"
template <class Part>
std::string course(const Survey<Measured>& from, const Survey<Measured>& to, Part part) {
  const Interval difference = change(to, from, part);
  return fmt::format("from {:.2g} to {:.2g} ({})", from.mean(part).value, to.mean(part).value,
                     difference.high < 0  ? "lower"
                     : difference.low > 0 ? "higher"
                                          : "too close to say");
}

void run(const LabOptions& options, Notebook& book) {
  std::vector<AtPoints> all;
  double euler = 0;
  for (const Real noise : noises) {
    all.push_back(measure_all(options, noise));
    show(all.back(), noise, options, book);
    euler = larger(euler, all.back().all().largest(&Measured::euler));
  }
  book.at_most("|dL/dg - <W_O, dL/dW_O>| over the largest sensitivity, at all points", euler,
               by_precision(1e-11, 1e-3));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Survey<Measured>&start = all[i][0], &peak = all[i][peak_of(all[i])],
          &end = all[i][count - 1];
    const std::string where = name_of(noises[i]);
    book.more_than(where + ": log(cost / slope), last point minus first: lower end of the interval",
                   change(end, start, &Measured::log_ratio).low, 0);
    book.at_least(where + ": removal cost at the last point over that at the slope's maximum",
                  end.mean(&Measured::mean_cost).value / peak.mean(&Measured::mean_cost).value,
                  0.5);
    // An untrained model would have nothing to compare.
    book.more_than(where + ": fall of the loss by training: lower end of the interval",
                   -change(end, start, &Measured::loss).high, 0);
  }
  const AtPoints &exact = all[0], &noisy = all[1];
  const Survey<Measured>&peak = exact[peak_of(exact)], &end = exact[count - 1],
        &noisy_peak = noisy[peak_of(noisy)], &noisy_end = noisy[count - 1];
  const Interval order =
      noisy_end.mean([](const Measured& m) { return m.sensitivity_order() - m.slope_order(); });
  book.answer(
      sentence(
          "Their sizes do not: from its maximum at step {} to the end of training the mean slope "
          "goes {} and the sensitivity {}, but the removal cost {}. Targets with noise keep the "
          "sensitivity, which takes the sizes before the mean, at {:.2g}, and its order of the "
          "heads agrees with that of the costs with a rank correlation of {:.2g}, against {:.2g} "
          "for the slope ({}).",
          points[peak_of(exact)], course(peak, end, &Measured::mean_slope),
          course(peak, end, &Measured::mean_sensitivity), course(peak, end, &Measured::mean_cost),
          noisy_end.mean(&Measured::mean_sensitivity).value,
          noisy_end.mean(&Measured::sensitivity_order).value,
          noisy_end.mean(&Measured::slope_order).value,
          order.low > 0    ? "the sensitivity orders better"
          : order.high < 0 ? "the slope orders better"
                           : "too close to say which is better"),
      sentence(
          "With noise the slope goes {}, the sensitivity {} and the cost {}. At the start, "
          "before training, removing a head changes the loss by {:.2g}. \"Lower\" and "
          "\"higher\" are differences whose 95 % interval, paired by seed, excludes 0. The "
          "experiment euler shows why the slope is <W_O, dL/dW_O>; docs/pruning-results.md has "
          "the same effect in transformers.",
          course(noisy_peak, noisy_end, &Measured::mean_slope),
          course(noisy_peak, noisy_end, &Measured::mean_sensitivity),
          course(noisy_peak, noisy_end, &Measured::mean_cost),
          exact[0].mean(&Measured::mean_cost).value));
}

}  // namespace importance_over_training
}  // namespace

Experiment importance_over_training_experiment() {
  return {
      .name = "importance-over-training",
      .title = "Do a head's sensitivity and its removal cost agree during training?",
      .question =
          "Do scores built on the slope of a head's gate, <W_O, dL/dW_O>, which training drives "
          "to zero, still say what it costs to remove the head?",
      .computed =
          "An attention trains without weight decay on a task in which each token needs two "
          "other tokens, with 10 seeds, once with exact and once with noisy targets. At 8 "
          "points of training, held-out sequences give for every head the slope of its gate, "
          "the mean of the slopes' sizes by example (the sensitivity of Michel et al.), and "
          "the rise of the loss when the head is removed.",
      .formulas = {"{dL}/{dg_h} = <W_O^h, {dL}/{dW_O^h}>, \"at\" g_h = 1",
                   "\"sensitivity\" = E_x |{dL(x)}/{dg_h}|", "\"cost\" = L(g_h = 0) - L(g_h = 1)",
                   "L \"linear in\" g_h: \"cost\" = -{dL}/{dg_h}"},
      .defaults = {.width = 32, .heads = 8},
      .limits = {.least_heads = 4, .most_heads = 16, .least_head_dim = 4, .most_width = 64},
      .run = importance_over_training::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
