// optimizers: which rules depend on the layout, and the effect of one head with a large gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  const HeadShares before = shares_of(*separate);
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
  const HeadShares after = shares_of(*separate), other = shares_of(*fused);
  double difference = 0, movement = 0;
  for (std::size_t head = 0; head < after.size(); ++head) {
    const HeadArrays& here = after[head].value;
    difference = larger(difference, largest_difference(here, other[head].value));
    movement = larger(movement, largest_difference(before[head].value, here));
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
  const Grid<OptimizerRule, Divergence> found(
      rules, draws, [&](const OptimizerRule& rule, std::uint64_t draw) {
        return Divergence{layouts_apart(rule, Gradients::the_same, options, draw),
                          layouts_apart(rule, Gradients::their_own, options, draw)};
      });
  const auto is_by_block = [](const OptimizerRule& r) {
    return !r.elementwise() && !r.by_tensor();
  };
  const double elementwise = found.where(&OptimizerRule::elementwise).largest(&Divergence::same),
               by_block = found.where(is_by_block).largest(&Divergence::same),
               by_tensor = found.where(&OptimizerRule::by_tensor).smallest(&Divergence::same);
  book.table(sentence("Per tensor, the two layouts' weights diverge by at least {:.1g} of their "
                      "largest change, with any other rule by at most {:.1g}",
                      by_tensor, larger(elementwise, by_block)),
             sentence("The same heads in both layouts, {} steps: max |difference| of the "
                      "weights over the largest change, with the same gradients for both and "
                      "with each layout's own. Mean of {} draws with 95 % intervals. The title "
                      "refers to the same gradients. Own gradients differ by rounding, which "
                      "Adam's division by the gradient's magnitude can amplify.",
                      compared_steps, draws),
             {"optimizer", "same gradients", "own gradients"},
             found.rows(&OptimizerRule::name, &Divergence::same, &Divergence::own));
  book.equal("SGD, Adam, AdamW, same gradients: largest distance of the layouts", elementwise, 0);
  book.at_most("LAMB, Muon per projection and per head, same gradients: largest distance", by_block,
               same_gradients);
  book.more_than("LAMB, Muon per tensor, same gradients: smallest distance", by_tensor, 1e-3);
  book.at_most("SGD, own gradients: largest distance", found.of("SGD").largest(&Divergence::own),
               by_precision(1e-11, 1e-4));
  return by_tensor;
}

/// A rule in one layout: a row of the table.
struct Row {
  const OptimizerRule* rule;
  Layout layout;
  std::string name;
};

/// Head 0 is scaled in the last step, in all steps.
struct BothScaled {
  ScaledHead one_step, all_steps;

  // Size of head 0's update divided by that without the scaling, and of the others'.
  double head_0_in_one() const { return one_step.ratio(0); }
  double others_in_one() const { return one_step.others_ratio(); }
  double head_0_in_all() const { return all_steps.ratio(0); }
  double others_in_all() const { return all_steps.others_ratio(); }
};

using ScaledRows = Grid<Row, BothScaled>;

/// Only rules per tensor depend on the layout; the others are shown in the fused layout.
ScaledRows scaled_rows(const std::vector<OptimizerRule>& rules, const LabOptions& options) {
  std::vector<Row> rows;
  for (const OptimizerRule& rule : rules) {
    const std::string name = rule.name();
    if (rule.by_tensor()) rows.push_back({&rule, Layout::separate, name + ", separate"});
    rows.push_back({&rule, Layout::fused, name + (rule.by_tensor() ? ", fused" : "")});
  }
  return ScaledRows(rows, draws, [&](const Row& row, std::uint64_t draw) {
    const auto scaled = [&](Scaled when) {
      return with_scaled_head(row.layout, options.width, options.heads,
                              seed_of_draw(options.seed, draw), row.rule->training, when);
    };
    return BothScaled{scaled(Scaled::at_the_end), scaled(Scaled::always)};
  });
}

/// The mean over the draws of every head's ratio, in one step.
std::vector<std::pair<double, double>> mean_by_head(const Survey<BothScaled>& seen) {
  std::vector<std::pair<double, double>> points;
  for (Index head = 0; head < seen.samples().front().one_step.heads(); ++head) {
    const auto ratio = [head](const BothScaled& one) { return one.one_step.ratio(head); };
    points.emplace_back(double(head), seen.mean(ratio).value);
  }
  return points;
}

/// The other heads' change with Muon divided by that without the scaling of head 0 in all steps.
struct MuonShares {
  Interval tensor, projection;
};

/// Claims the effect of granularities on heads of unequal gradient; returns Muon's shares, for the
/// answer.
MuonShares claim_granularities(const ScaledRows& seen, const LabOptions& options, Notebook& book) {
  const MuonShares muon{seen.of("Muon per tensor, fused").mean(&BothScaled::others_in_all),
                        seen.of("Muon per projection").mean(&BothScaled::others_in_all)};
  const Interval lamb = seen.of("LAMB per projection").mean(&BothScaled::others_in_one);
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

void claim_scaled(const ScaledRows& seen, Notebook& book) {
  Index untouched_missing = 0, touched_missing = 0, separate_inputs = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Row& row = seen.cases()[i];
    const bool alone = row.rule->elementwise() || row.rule->granularity == Granularity::head;
    const bool shares_inputs = !alone && !(row.rule->by_tensor() && row.layout == Layout::separate);
    for (const BothScaled& both : seen[i].samples()) {
      for (const ScaledHead* one : {&both.one_step, &both.all_steps}) {
        const bool one_step = one == &both.one_step;  // Adam's normalisation hides a lasting one
        if (alone) untouched_missing += !one->others_unchanged();
        for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value}) {
          if (shares_inputs && one_step) touched_missing += one->others_unchanged(role);
          if (!alone && !shares_inputs) separate_inputs += !one->others_unchanged(role);
        }
        if (!alone && one_step) touched_missing += one->others_unchanged(HeadRole::output);
      }
    }
  }
  book.equal("SGD, Adam, AdamW, all per head: runs in which another head changes",
             double(untouched_missing), 0);
  book.equal(
      "one step: other heads' blocks that stay the same though they share a block with head 0",
      double(touched_missing), 0);
  book.equal("separate per tensor: other heads' Q, K, V that change", double(separate_inputs), 0);
  const auto over_factor = [](const BothScaled& b) { return b.head_0_in_one() / gradient_factor; };
  book.at_most("SGD, one step: |head 0's update / (100 times its unscaled update) - 1|",
               seen.of("SGD").off(over_factor, 1), by_precision(1e-9, 1e-2));
  book.at_most("Adam, all steps: |head 0's change / its unscaled change - 1|",
               seen.of("Adam").off(&BothScaled::head_0_in_all, 1), 1e-3);
}

MuonShares scaled_table(const std::vector<OptimizerRule>& rules, const LabOptions& options,
                        Notebook& book) {
  const ScaledRows seen = scaled_rows(rules, options);
  std::vector<Notebook::Series> lines;
  const std::vector<double> others = seen.by_case(&BothScaled::others_in_one);
  const auto worst = std::max_element(others.begin(), others.end(), [](double a, double b) {
    return std::abs(std::log(a)) < std::abs(std::log(b));
  });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Row& row = seen.cases()[i];
    if (row.layout == Layout::separate || row.rule->granularity == Granularity::projection ||
        row.name == "SGD" || row.name == "AdamW") {
      continue;
    }
    lines.push_back({row.name, mean_by_head(seen[i])});
  }
  book.table(sentence("Head 0's larger gradient changes the others' updates most under {}: to "
                      "{:.2g} of their size",
                      at(seen.cases(), worst - others.begin()).name, *worst),
             sentence("Head 0's gradient is {:.0f} times as large, in the last of 11 steps (one "
                      "step) or in all of them. Norm of that head's update divided by the norm "
                      "without this factor, and the mean of this ratio over the other heads; {} "
                      "draws with 95 % intervals. The title refers to one step.",
                      gradient_factor, draws),
             {"optimizer", "one step: head 0", "one step: others", "all steps: head 0",
              "all steps: others"},
             seen.rows(&Row::name, &BothScaled::head_0_in_one, &BothScaled::others_in_one,
                       &BothScaled::head_0_in_all, &BothScaled::others_in_all));
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
  claim_scaled(seen, book);
  return claim_granularities(seen, options, book);
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

/// The cost of Muon per head over Muon per tensor: its loss, and the time of its step.
struct CostOfMuon {
  Text loss;
  Interval time;
};

/// Trains with every rule.
CostOfMuon training(const std::vector<OptimizerRule>& rules, const LabOptions& options,
                    Notebook& book) {
  std::vector<Notebook::Series> lines;
  Text found;
  CostOfMuon of_muon;
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
  const Grid<OptimizerRule, TrainingCurves> seen(
      rules, draws, [&](const OptimizerRule& rule, std::uint64_t draw) {
        return train_both_layouts(rule, options.width, options.heads,
                                  seed_of_draw(options.seed, draw));
      });
  Notebook::Rows rows = seen.rows(&OptimizerRule::name, final_loss, &TrainingCurves::apart);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const OptimizerRule& rule = rules[i];
    Value against_tensor;
    if (!rule.elementwise() && !rule.by_tensor()) {  // the order is tensor, projection, head
      const std::size_t tensor = rule.granularity == Granularity::head ? i - 2 : i - 1;
      const Interval ratio = ratio_of(seen[i].all(final_loss), seen[tensor].all(final_loss));
      against_tensor = compared(ratio);
      if (rule.granularity == Granularity::head) {
        found = found + sentence(found.pattern.empty() ? "{} {:.3g}" : ", {} {:.3g}", rule.name(),
                                 ratio.value);
      }
      if (rule.name() == "Muon per head") {
        of_muon = {compared(ratio), ratio_of(seen[i].all(&TrainingCurves::step_time),
                                             seen[tensor].all(&TrainingCurves::step_time))};
      }
    }
    rows[i].push_back(against_tensor);
    rows[i].push_back(seen[i].mean(&TrainingCurves::step_time));
    if (rule.granularity == Granularity::projection || rule.name() == "AdamW") continue;
    lines.push_back({rule.name(), {}});
    for (Index step = 0; step < TrainingCurves::steps; step += 10) {
      const auto loss = [&](const TrainingCurves& one) { return at(one.fused, step); };
      lines.back().points.emplace_back(double(step), seen[i].mean(loss).value);
    }
  }
  book.chart(sentence("In {} steps the loss falls by a factor of {:.2g} or more under every rule, "
                      "in every draw",
                      TrainingCurves::steps, seen.all().smallest(gain)),
             sentence("A layer imitates another one; mean squared error, mean of {} draws, "
                      "fused heads. The learning rates are fixed and not tuned, so the chart "
                      "does not show which optimizer is better.",
                      draws),
             "step", "mean squared error", true, lines);
  book.table(sentence("Loss over that per tensor: {}", found),
             sentence("Mean loss of the last {} steps of {}, fused heads; the difference of the "
                      "layouts' weights at the end, max |difference| / max |value|; the loss "
                      "over that of the same optimizer per tensor in the same draws; and the "
                      "milliseconds of the optimizer's step without the gradients, the median of "
                      "a draw. {} draws with 95 % intervals.",
                      last, TrainingCurves::steps, draws),
             {"optimizer", "loss", "difference of the layouts", "loss over that per tensor",
              "milliseconds of a step"},
             rows);
  // Counts NaN, too.
  const auto not_learned = [&](const TrainingCurves& one) { return !(gain(one) > 1); };
  book.equal("runs whose loss does not fall", double(seen.all().count(not_learned)), 0);
  return of_muon;
}

void run(const LabOptions& options, Notebook& book) {
  const std::vector<OptimizerRule> rules = optimizer_rules(options.width);
  const double apart = layouts_table(rules, options, book);
  const MuonShares muon = scaled_table(rules, options, book);
  const CostOfMuon cost = training(rules, options, book);
  book.answer(
      sentence("With LAMB and Muon: per tensor the two layouts' weights diverge by at "
               "least {:.1g} of their largest change within {} steps, while SGD, Adam and "
               "AdamW give the same updates in both, to the bit for the same gradients. "
               "Muon per head makes the heads independent of the layout and of each other, "
               "its loss after {} steps is {} times that of Muon per tensor, and its step takes "
               "{} times as long.",
               apart, compared_steps, TrainingCurves::steps, cost.loss, cost.time),
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
