// optimizers: which rules depend on the layout, and the effect of one head with a large gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/optimizer_rules.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace optimizer_rows {

constexpr int draws = 5;
constexpr Index compared_steps = 10;

enum class Gradients { the_same, their_own };

/// Divergence of the two layouts: max |difference| of the weights over their largest change, after
/// ten steps with the same gradients (copied) or with those of each layout's own backward pass.
double layouts_apart(const OptimizerRule& rule, Gradients gradients, const LabOptions& options,
                     std::uint64_t draw) {
  const AttentionConfig config{.width = options.width, .heads = options.heads, .bias = false};
  Rng rng(options.seed, "optimizers apart", draw);
  const auto [separate, fused] = twin_layouts(config, rng);
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw), false);
  const auto first = rule.training.make(*separate), second = rule.training.make(*fused);
  const HeadBlocks before = head_values(*separate);
  for (Index step = 0; step < compared_steps; ++step) {
    const Imitation::Batch batch = task.batch(step);
    imitation_gradients(*separate, batch);
    if (gradients == Gradients::the_same) {
      transplant_gradients(*separate, *fused);
    } else {
      imitation_gradients(*fused, batch);
    }
    first->step(rule.training.rate);
    second->step(rule.training.rate);
  }
  const HeadBlocks after = head_values(*separate), other = head_values(*fused);
  double difference = 0, movement = 0;
  for (Index head = 0; head < options.heads; ++head) {
    difference = larger(difference, largest_difference(after, other, head));
    movement = larger(movement, largest_difference(before, after, head));
  }
  return difference / movement;
}

/// Divergence of the layouts in one draw, with the same gradients and with each layout's own.
struct Divergence {
  double same, own;
};

/// Returns the smallest divergence of the layouts under a rule per tensor.
double layouts_table(const std::vector<OptimizerRule>& rules, const LabOptions& options,
                     Notebook& book) {
  Notebook::Rows rows;
  double elementwise = 0, sgd = 0, by_block = 0, by_tensor = std::numeric_limits<double>::max();
  for (const OptimizerRule& rule : rules) {
    const Survey<Divergence> found(draws, [&](std::uint64_t draw) {
      return Divergence{layouts_apart(rule, Gradients::the_same, options, draw),
                        layouts_apart(rule, Gradients::their_own, options, draw)};
    });
    if (rule.by_tensor()) {
      by_tensor = smaller(by_tensor, found.smallest(&Divergence::same));
    } else {
      double& most = rule.elementwise() ? elementwise : by_block;
      most = larger(most, found.largest(&Divergence::same));
    }
    if (&rule == &rules.front()) sgd = found.largest(&Divergence::own);
    rows.push_back(
        {rule.training.name, found.mean(&Divergence::same), found.mean(&Divergence::own)});
  }
  book.table(sentence("Per tensor, the two layouts' weights diverge by at least {:.1g} of their "
                      "largest change, with any other rule by at most {:.1g}",
                      by_tensor, larger(elementwise, by_block)),
             sentence("The same heads in both layouts, {} steps: max |difference| of the "
                      "weights over the largest change, with the same gradients for both and "
                      "with each layout's own. Mean of {} draws with 95 % intervals. The title "
                      "refers to the same gradients. Own gradients differ by rounding, which "
                      "Adam's division by the gradient's magnitude can amplify.",
                      compared_steps, draws),
             {"optimizer", "same gradients", "own gradients"}, rows);
  book.equal("SGD, Adam, AdamW, same gradients: largest distance of the layouts", elementwise, 0);
  book.at_most("LAMB, Muon per projection and per head, same gradients: largest distance", by_block,
               same_gradients);
  book.more_than("LAMB, Muon per tensor, same gradients: smallest distance", by_tensor, 1e-3);
  book.at_most("SGD, own gradients: largest distance", sgd, by_precision(1e-11, 1e-4));
  return by_tensor;
}

/// A rule in one layout: a row of the table.
struct Row {
  const OptimizerRule* rule;
  Layout layout;
  std::string name;
  Survey<ScaledHead> one_step, all_steps;  // head 0 is scaled in the last step, in all steps
};

/// Size of head 0's update divided by that without the scaling.
double scaled_ratio(const ScaledHead& one) { return one.ratio(0); }

/// Only rules per tensor depend on the layout; the others are shown in the fused layout.
std::vector<Row> scaled_rows(const std::vector<OptimizerRule>& rules, const LabOptions& options) {
  std::vector<Row> rows;
  for (const OptimizerRule& rule : rules) {
    for (const Layout layout : {Layout::separate, Layout::fused}) {
      if (!rule.by_tensor() && layout == Layout::separate) continue;
      const auto all_draws = [&](Scaled when) {
        return Survey<ScaledHead>(draws, [&](std::uint64_t draw) {
          return with_scaled_head(layout, options.width, options.heads,
                                  seed_of_draw(options.seed, draw), rule.training, when);
        });
      };
      Row row{&rule, layout, rule.training.name, all_draws(Scaled::at_the_end),
              all_draws(Scaled::always)};
      if (rule.by_tensor()) row.name += std::string(", ") + name_of(layout);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// The mean over the draws of every head's ratio, in one step.
std::vector<std::pair<double, double>> mean_by_head(const Row& row) {
  std::vector<std::pair<double, double>> points;
  for (Index head = 0; head < row.one_step.samples().front().heads(); ++head) {
    double mean = 0;
    for (const ScaledHead& one : row.one_step.samples()) mean += one.ratio(head) / draws;
    points.emplace_back(double(head), mean);
  }
  return points;
}

/// The other heads' change with Muon divided by that without the scaling of head 0 in all steps.
struct MuonShares {
  Interval tensor, projection;
};

/// Claims the effect of granularities on heads of unequal gradient; returns Muon's shares, for the
/// answer.
MuonShares claim_granularities(const std::vector<Row>& rows, const LabOptions& options,
                               Notebook& book) {
  const auto row_of = [&](const std::string& name) -> const Row& {
    return *std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  };
  const MuonShares muon{row_of("Muon per tensor, fused").all_steps.mean(&ScaledHead::others_ratio),
                        row_of("Muon per projection").all_steps.mean(&ScaledHead::others_ratio)};
  const Interval lamb = row_of("LAMB per projection").one_step.mean(&ScaledHead::others_ratio);
  if (options.width >= 16) {  // below, the spread of the draws is as large as their distance from 1
    book.at_most(
        "LAMB per projection, one step: the others' updates over those without scaling, mean",
        lamb.value, 1);
  }
  book.at_most("Muon per projection, all steps: the others' change over that without scaling, mean",
               muon.projection.value, 1);
  book.at_most("the same with Muon per tensor, fused, over that per projection",
               muon.tensor.value / muon.projection.value, 1);
  // In small layers five draws are too few to separate the intervals.
  if (options.width == 32 && options.heads == 4) {
    book.at_most("LAMB per projection: upper end of that interval", lamb.high, 0.99);
    book.at_most("Muon per projection: upper end of that interval", muon.projection.high, 0.9);
    book.at_most("Muon per tensor, upper end, over per projection, lower end",
                 muon.tensor.high / muon.projection.low, 0.9);
  }
  return muon;
}

void claim_scaled(const std::vector<Row>& rows, Notebook& book) {
  Index untouched_missing = 0, touched_missing = 0, separate_inputs = 0;
  double sgd = 0, adam = 0;
  for (const Row& row : rows) {
    const bool alone = row.rule->elementwise() || row.rule->granularity == Granularity::head;
    const bool shares_inputs = !alone && !(row.rule->by_tensor() && row.layout == Layout::separate);
    for (const Survey<ScaledHead>* seen : {&row.one_step, &row.all_steps}) {
      const bool one_step = seen == &row.one_step;  // Adam's normalisation hides a lasting one
      for (const ScaledHead& one : seen->samples()) {
        if (alone) untouched_missing += !one.others_unchanged();
        for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value}) {
          if (shares_inputs && one_step) touched_missing += one.others_unchanged(role);
          if (!alone && !shares_inputs) separate_inputs += !one.others_unchanged(role);
        }
        if (!alone && one_step) touched_missing += one.others_unchanged(HeadRole::output);
      }
    }
    if (row.name == "SGD") {
      sgd =
          row.one_step.off([](const ScaledHead& one) { return one.ratio(0) / gradient_factor; }, 1);
    }
    if (row.name == "Adam") adam = row.all_steps.off(scaled_ratio, 1);
  }
  book.equal("SGD, Adam, AdamW, all per head: runs in which another head changes",
             double(untouched_missing), 0);
  book.equal(
      "one step: other heads' blocks that stay the same though they share a block with head 0",
      double(touched_missing), 0);
  book.equal("separate per tensor: other heads' Q, K, V that change", double(separate_inputs), 0);
  book.at_most("SGD, one step: |head 0's update / (100 times its unscaled update) - 1|", sgd,
               by_precision(1e-9, 1e-2));
  book.at_most("Adam, all steps: |head 0's change / its unscaled change - 1|", adam, 1e-3);
}

MuonShares scaled_table(const std::vector<OptimizerRule>& rules, const LabOptions& options,
                        Notebook& book) {
  const std::vector<Row> rows = scaled_rows(rules, options);
  Notebook::Rows cells;
  std::vector<Notebook::Series> lines;
  const Row* worst = &rows.front();
  const auto off = [](const Row& row) {
    return std::abs(std::log(row.one_step.mean(&ScaledHead::others_ratio).value));
  };
  for (const Row& row : rows) {
    cells.push_back({row.name, row.one_step.mean(scaled_ratio),
                     row.one_step.mean(&ScaledHead::others_ratio), row.all_steps.mean(scaled_ratio),
                     row.all_steps.mean(&ScaledHead::others_ratio)});
    if (off(row) > off(*worst)) worst = &row;
    if (row.layout == Layout::separate || row.rule->granularity == Granularity::projection ||
        row.name == "SGD" || row.name == "AdamW") {
      continue;
    }
    lines.push_back({row.name, mean_by_head(row)});
  }
  book.table(sentence("Head 0's larger gradient changes the others' updates most under {}: to "
                      "{:.2g} of their size",
                      worst->name, worst->one_step.mean(&ScaledHead::others_ratio).value),
             sentence("Head 0's gradient is {:.0f} times as large, in the last of 11 steps (one "
                      "step) or in all of them. Norm of that head's update divided by the norm "
                      "without this factor, and the mean of this ratio over the other heads; {} "
                      "draws with 95 % intervals. The title refers to one step.",
                      gradient_factor, draws),
             {"optimizer", "one step: head 0", "one step: others", "all steps: head 0",
              "all steps: others"},
             cells);
  const auto at_scaled = [&](std::size_t line) { return lines[line].points[0].second; };
  book.chart(
      sentence("Head 0's own update is {:.2g} times the unscaled one with {}, {:.2g} times with {}",
               at_scaled(0), lines[0].name, at_scaled(1), lines[1].name),
      sentence("Norm of every head's last update divided by the norm without scaling, mean "
               "of {} draws; only head 0 has a larger gradient. Fused heads. SGD, whose update is "
               "proportional to the gradient, is left out.",
               draws),
      "head", "update over the unscaled update", false, lines);
  book.figure();
  claim_scaled(rows, book);
  return claim_granularities(rows, options, book);
}

/// The mean ratio of two rules' losses in the same draws, with its interval.
Interval ratio_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return geometric_mean(ratios);
}

/// A ratio in words: "1.08 [1.05, 1.12] (higher)".
Text compared(const Interval& ratio) {
  const char* verdict = ratio.low > 1 ? "higher" : ratio.high < 1 ? "lower" : "no clear difference";
  return sentence("{} ({})", ratio, verdict);
}

/// Trains with every rule; returns the loss with Muon per head over that with Muon per tensor.
Text training(const std::vector<OptimizerRule>& rules, const LabOptions& options, Notebook& book) {
  Notebook::Rows rows;
  std::vector<Notebook::Series> lines;
  std::vector<std::vector<double>> finals;
  Text found, of_muon;
  double least_gain = std::numeric_limits<double>::max();
  Index not_learned = 0;
  constexpr std::size_t last = 10;  // steps whose mean is the final loss
  const auto final_loss = [](const TrainingCurves& curves) {
    double mean = 0;
    for (auto loss = curves.fused.end() - last; loss != curves.fused.end(); ++loss) {
      mean += *loss / last;
    }
    return mean;
  };
  const auto gain = [&](const TrainingCurves& curves) {
    return curves.fused.front() / final_loss(curves);
  };
  for (const OptimizerRule& rule : rules) {
    const Survey<TrainingCurves> seen(draws, [&](std::uint64_t draw) {
      return train_both_layouts(rule, options.width, options.heads,
                                seed_of_draw(options.seed, draw));
    });
    // Counts NaN, too.
    not_learned += seen.count([&](const TrainingCurves& one) { return !(gain(one) > 1); });
    least_gain = smaller(least_gain, seen.smallest(gain));
    const std::vector<double> ends = seen.all(final_loss);
    finals.push_back(ends);
    Value against_tensor;  // the rules are in the order tensor, projection, head
    if (rule.granularity == Granularity::projection) {
      against_tensor = compared(ratio_of(ends, finals[finals.size() - 2]));
    } else if (rule.granularity == Granularity::head) {
      const Interval ratio = ratio_of(ends, finals[finals.size() - 3]);
      against_tensor = compared(ratio);
      found = found + sentence(found.pattern.empty() ? "{} {:.3g}" : ", {} {:.3g}",
                               rule.training.name, ratio.value);
      if (rule.training.name == "Muon per head") of_muon = compared(ratio);
    }
    rows.push_back({rule.training.name, mean_interval(ends), seen.mean(&TrainingCurves::apart),
                    against_tensor});
    if (rule.granularity == Granularity::projection || rule.training.name == "AdamW") continue;
    lines.push_back({rule.training.name, {}});
    for (Index step = 0; step < TrainingCurves::steps; step += 10) {
      double mean = 0;
      for (const TrainingCurves& one : seen.samples()) mean += at(one.fused, step) / draws;
      lines.back().points.emplace_back(double(step), mean);
    }
  }
  book.chart(sentence("In {} steps the loss falls by a factor of {:.2g} or more under every rule, "
                      "in every draw",
                      TrainingCurves::steps, least_gain),
             sentence("A layer imitates another one; mean squared error, mean of {} draws, "
                      "fused heads. The learning rates are fixed and not tuned, so the chart "
                      "does not show which optimizer is better.",
                      draws),
             "step", "mean squared error", true, lines);
  book.table(sentence("Loss over that per tensor: {}", found),
             sentence("Mean loss of the last {} steps of {}, fused heads; the difference of the "
                      "layouts' weights at the end, max |difference| / max |value|; and the "
                      "loss over that of the same optimizer per tensor in the same draws. {} "
                      "draws with 95 % intervals.",
                      last, TrainingCurves::steps, draws),
             {"optimizer", "loss", "difference of the layouts", "loss over that per tensor"}, rows);
  book.equal("runs whose loss does not fall", double(not_learned), 0);
  return of_muon;
}

void run(const LabOptions& options, Notebook& book) {
  const std::vector<OptimizerRule> rules = optimizer_rules(options.width);
  const double apart = layouts_table(rules, options, book);
  const MuonShares muon = scaled_table(rules, options, book);
  const Text cost = training(rules, options, book);
  book.answer(sentence("With LAMB and Muon: per tensor the two layouts' weights diverge by at "
                       "least {:.1g} of their largest change within {} steps, while SGD, Adam and "
                       "AdamW give the same updates in both, to the bit for the same gradients. "
                       "Muon per head makes the heads independent of the layout and of each other, "
                       "and its loss after {} steps is {} times that of Muon per tensor.",
                       apart, compared_steps, TrainingCurves::steps, cost),
              sentence("If head 0's gradient is {:.0f} times as large in all steps, the other "
                       "heads change {:.2g} times as much as without this factor with Muon per "
                       "tensor (fused) and {:.2g} times as much with Muon per projection. With "
                       "Muon per head, as with SGD and Adam, the other heads' weights stay bitwise "
                       "the same. A trust ratio or an orthogonalisation acts on whole tensors.",
                       gradient_factor, muon.tensor.value, muon.projection.value));
}

}  // namespace optimizer_rows
}  // namespace

Experiment optimizers_experiment() {
  return {.name = "optimizers",
          .title = "Which optimizers depend on how the heads are stored?",
          .question =
              "With which of SGD, Adam, AdamW, LAMB and Muon does training depend on how the heads "
              "are stored, or on a larger gradient of another head?",
          .computed =
              "The same layer in both layouts, without biases, learns to imitate another one: with "
              "copied gradients, and with its own. LAMB and Muon act per tensor as it is stored, "
              "per projection or per head. Then the gradient of head 0 is multiplied by 100 and "
              "every head's update is compared with the unscaled one.",
          .formulas = {"\"elementwise:\" p_i <- p_i - f(g_i, \"memory of\" i)",
                       "\"LAMB:\" p <- p - \"lr\" {|p|}/{|u|} u, \"norms\" \"over a block\"",
                       "\"Muon:\" p <- p - \"lr\" sqrt(max(1, m / n)) U V^T \"of the momentum\" U "
                       "S V^T \"of a block\" [m, n]"},
          .defaults = {.width = 32, .heads = 4},
          .limits = {.least_heads = 2, .most_heads = 16, .least_head_dim = 4, .most_width = 64},
          .run = optimizer_rows::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
