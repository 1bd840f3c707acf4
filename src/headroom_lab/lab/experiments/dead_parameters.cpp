// dead-parameters: the key bias has no effect, and how optimizers amplify its rounding noise.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/experiments/bias_folding.hpp"
#include "lab/head_shares.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/optimizer_rules.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace dead_parameters {

constexpr int draws = 5;
constexpr Index steps = 200;
constexpr double adam_rate = 0.01;

/// Maximum of one role's gradients over all heads.
double largest_gradient(const HeadShares& shares, HeadRole role) {
  double most = 0;
  for (const HeadShare& share : shares) most = larger(most, max_abs(share.gradient.at(role)));
  return most;
}

/// Root mean square of one role's values over all heads.
double root_mean_square(const HeadShares& shares, HeadRole role) {
  double squares = 0;
  Index count = 0;
  for (const HeadShare& share : shares) {
    const Array& values = share.value.at(role);
    squares += inner(values, values);
    count += values.size();
  }
  return std::sqrt(squares / double(count));
}

/// One layer with random biases: gradients of the three input biases.
struct Gradients {
  double query, key, value;  // maximum of each
  double value_relation;     // dL/db_V^h against (W_O^h)^T dL/db_O, relative
};

Gradients gradients_of(Layout layout, const LabOptions& options, std::uint64_t draw) {
  Rng rng(options.seed, "dead-parameters", draw);
  const AttentionConfig config{.width = options.width, .heads = options.heads};
  const auto first = make_attention(Layout::fused, config, rng),
             layer = make_attention(layout, config, rng);
  randomise(*first, rng);
  transplant(*first, *layer);
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw));
  imitation_gradients(*layer, task.batch(0));
  const HeadShares shares = shares_of(*layer);
  const Array d_out = output_bias(*layer).grad().reshaped({1, options.width});
  Gradients result{largest_gradient(shares, HeadRole::query_bias),
                   largest_gradient(shares, HeadRole::key_bias),
                   largest_gradient(shares, HeadRole::value_bias), 0};
  for (const HeadShare& share : shares) {
    const Array expected = matmul(d_out, share.value.at(HeadRole::output));  // [1, D]
    const Array& seen = share.gradient.at(HeadRole::value_bias);
    result.value_relation =
        larger(result.value_relation,
               largest_difference(expected.reshaped(seen.shape()), seen) / result.value);
  }
  return result;
}

/// A training rule and its learning rate.
struct Rule {
  const char* name;
  OptimizerMaker make;
  bool adam;
};

const std::array<Rule, 3> rules{{{"SGD", make_sgd(0.9), false},
                                 {"Adam, epsilon 1e-8", make_adam(), true},
                                 {"Adam, epsilon 1e-30", make_adam(1e-30), true}}};
const Rule &sgd = rules[0], &adam = rules[1], &bare_adam = rules[2];

/// Movement of the biases in one training run.
struct Walk {
  std::vector<double> key, query;  // root mean squares after 0, 1, ..., `steps` steps
  double effect = 0;               // of the key bias on the final output, relative
};

Walk walk(const Rule& rule, Layout layout, const LabOptions& options, std::uint64_t draw) {
  Rng rng(options.seed, "key bias walks", draw);
  const auto layer = make_attention(layout, {.width = options.width, .heads = options.heads}, rng);
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw));
  const auto optimizer = rule.make(*layer);
  const double rate = rule.adam ? adam_rate : 0.004 * double(options.width);
  Walk result;
  for (Index step = 0; step <= steps; ++step) {
    const HeadShares values = shares_of(*layer);
    result.key.push_back(root_mean_square(values, HeadRole::key_bias));
    result.query.push_back(root_mean_square(values, HeadRole::query_bias));
    if (step == steps) break;
    imitation_gradients(*layer, task.batch(step));
    optimizer->step(rate);
  }
  const NoGrad quiet;
  const Tensor x = task.batch(steps).x;
  const Array before = (*layer)(x, x, AttentionMask::none()).value();
  set_to_zero(*layer, HeadRole::key_bias);
  result.effect = relative_difference(before, (*layer)(x, x, AttentionMask::none()).value());
  return result;
}

/// A rule in one layout: a row of the table.
struct RuleIn {
  const Rule* rule;
  Layout layout;

  const char* rule_name() const { return rule->name; }
  const char* layout_name() const { return name_of(layout); }
  bool operator==(const RuleIn&) const = default;
};

using Walks = Grid<RuleIn, Walk>;

Walks all_walks(const LabOptions& options) {
  std::vector<RuleIn> cases;
  for (const Rule& rule : rules) {
    for (const Layout layout : both_layouts) cases.push_back({&rule, layout});
  }
  return Walks(cases, draws, [&](const RuleIn& one, auto draw) {
    return walk(*one.rule, one.layout, options, draw);
  });
}

/// All walks by one rule, in both layouts.
Survey<Walk> by_rule(const Walks& all, const Rule& rule) {
  return all.where([&](const RuleIn& one) { return one.rule == &rule; });
}

/// A bias after `step` steps.
auto after(Index step, std::vector<double> Walk::*bias = &Walk::key) {
  return [=](const Walk& one) { return at(one.*bias, step); };
}

/// Mean over the draws with fused heads of a bias after `step` steps.
double fused_mean(const Walks& all, const Rule& rule, std::vector<double> Walk::*bias, Index step) {
  return all.of(RuleIn{&rule, Layout::fused}).mean(after(step, bias)).value;
}

void gradient_table(const LabOptions& options, Notebook& book) {
  const Grid<Layout, Gradients> seen(
      {std::begin(both_layouts), std::end(both_layouts)}, draws,
      [&](Layout layout, auto draw) { return gradients_of(layout, options, draw); });
  const double share = seen.all().largest([](const Gradients& g) { return g.key / g.query; });
  book.table(sentence("The gradient of the key bias is at most {:.1g} of the query bias's", share),
             sentence("Maximum of each gradient's elements over all heads; mean of {} draws with "
                      "95 % intervals.",
                      draws),
             {"layout", "dL/db_Q", "dL/db_K", "dL/db_V"},
             seen.rows([](Layout layout) { return name_of(layout); }, &Gradients::query,
                       &Gradients::key, &Gradients::value));
  book.at_most("largest dL/db_K over largest dL/db_Q", share, by_precision(1e-11, 2e-5));
  book.at_most("dL/db_V^h against (W_O^h)^T dL/db_O, relative difference",
               seen.all().largest(&Gradients::value_relation), same_gradients);
}

void walks_chart(const Walks& all, Notebook& book) {
  std::vector<Notebook::Series> lines;
  const auto line = [&](const std::string& name, const Rule& rule,
                        std::vector<double> Walk::*bias) {
    lines.push_back({name, {}});
    for (const Index step : {1, 2, 3, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200}) {
      lines.back().points.emplace_back(step, fused_mean(all, rule, bias, step));
    }
  };
  for (const Rule& rule : rules) line(fmt::format("b_K, {}", rule.name), rule, &Walk::key);
  line("b_Q, SGD", sgd, &Walk::query);
  line("b_Q, Adam", adam, &Walk::query);
  const double of_query = fused_mean(all, adam, &Walk::query, steps);
  book.chart(sentence("After {} steps of Adam, b_K is {:.1g} of b_Q with the usual epsilon and "
                      "{:.2g} with epsilon 1e-30",
                      steps, fused_mean(all, adam, &Walk::key, steps) / of_query,
                      fused_mean(all, bare_adam, &Walk::key, steps) / of_query),
             sentence("Root mean square of a bias that starts at 0, mean of {} draws, fused "
                      "heads; Adam's learning rate is {}. Adam normalises gradients, so rounding "
                      "noise larger than epsilon changes b_K by the learning rate in every step.",
                      draws, adam_rate),
             "step", "root mean square", true, lines);
  book.figure();
}

void walks_table(const Walks& all, Notebook& book) {
  const double most_effect = all.all().largest(&Walk::effect);
  book.table(
      sentence("Setting the trained b_K to zero changes the output by at most {:.1g}", most_effect),
      sentence("Root mean square of b_K over {} draws with 95 % intervals. Last column: change of "
               "the trained layer's output when b_K is set to zero, max |difference| / max "
               "|output|.",
               draws),
      {"optimizer", "layout", "b_K after 1 step", fmt::format("after {}", steps),
       "output without b_K"},
      all.rows(&RuleIn::rule_name, &RuleIn::layout_name, after(1), after(steps),
               largest_of(&Walk::effect)));
  const auto last_ratio = [](const Walk& w) { return w.key.back() / w.query.back(); };
  const Survey<Walk> bare = by_rule(all, bare_adam);
  book.at_most(fmt::format("SGD: b_K over b_Q after {} steps, largest", steps),
               by_rule(all, sgd).largest(last_ratio), by_precision(1e-11, 2e-5));
  book.at_least("Adam, epsilon 1e-30: b_K after 1 step over the learning rate, smallest",
                bare.smallest(after(1)) / adam_rate, 0.1);
  book.at_least(
      fmt::format("Adam, epsilon 1e-30: b_K after {} steps over the learning rate, smallest",
                  steps),
      bare.smallest(after(steps)) / adam_rate, 1);
  book.at_most("output of the trained layers without b_K, relative difference", most_effect,
               same_gradients);
}

void foldings(const LabOptions& options, Notebook& book) {
  const auto cases = folding_cases();
  const Grid<FoldingCase, Folding> seen(
      {cases.begin(), cases.end()}, draws,
      [&](const FoldingCase& which, auto draw) { return fold(which, options, draw); });
  const auto is_inexact = [](const FoldingCase& which) { return !which.exact; };
  const auto has_repair = [](const FoldingCase& which) { return *which.repair != 0; };
  Notebook::Rows rows = seen.rows(&FoldingCase::name, &FoldingCase::row_sums, &Folding::difference,
                                  &FoldingCase::repair, largest_of(&Folding::repaired));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!has_repair(cases[i])) rows[i].back() = {};
  }
  book.table(
      sentence("b_V can be folded into b_O, except in {} of {} cases",
               std::count_if(cases.begin(), cases.end(), is_inexact), cases.size()),
      sentence("Difference of a layer from its copy with b_V = 0 and b_O' = b_O + sum_h "
               "W_O^h b_V^h: max |difference| / max |output|, mean of {} draws with 95 % "
               "intervals. The last two columns: the restriction or change that makes both "
               "equal, and the largest difference with it in any draw.",
               draws),
      {"case", "rows of attention sum to", "difference", "equal if", "largest difference then"},
      rows);
  book.at_most("b_V folded into b_O where rows sum to one, difference",
               seen.where(&FoldingCase::exact).largest(&Folding::difference), same_values);
  book.more_than("empty rows, gates, dropout: smallest difference",
                 seen.where(is_inexact).smallest(&Folding::difference), 1e-3);
  book.at_most("difference in rows with keys only, and with gates in the sum",
               seen.where(has_repair).largest(&Folding::repaired), same_values);
  book.at_most("empty rows: the difference against sum_h W_O^h b_V^h",
               seen.all().largest(&Folding::of_empty_rows), same_values);
}

void run(const LabOptions& options, Notebook& book) {
  const Walks all = all_walks(options);
  gradient_table(options, book);
  walks_chart(all, book);
  walks_table(all, book);
  foldings(options, book);
  const Index c = options.width, parameters = 4 * c * c + 4 * c;
  const double usual = fused_mean(all, adam, &Walk::key, steps) / adam_rate,
               bare = fused_mean(all, bare_adam, &Walk::key, steps) / adam_rate;
  book.answer(
      sentence(
          "Of {:,} parameters, the {} of b_K have no effect, because softmax cancels a term that "
          "all keys share, and the {} of b_V can be folded into b_O as long as rows of attention "
          "sum to one. The gradient of b_K is rounding noise, but in {} steps Adam changes it by "
          "{:.2g} learning rates with its usual epsilon and by {:.2g} with 1e-30.",
          parameters, c, c, steps, usual, bare),
      "SGD has hardly changed b_K by then. The output stays the same, so b_K must be left out when "
      "the weights of two runs are compared.");
}

}  // namespace dead_parameters
}  // namespace

Experiment dead_parameters_experiment() {
  return {
      .name = "dead-parameters",
      .title = "Which parameters of attention have no effect?",
      .question =
          "Which biases of attention have no effect on its output, and which gradients and updates "
          "do they get?",
      .computed =
          "The gradients of the three input biases are measured in both layouts. Then layers "
          "learn to imitate another layer with SGD and with Adam, and the root mean square of b_K "
          "is recorded. Then b_V is folded into b_O in layers with masks, gates and dropout.",
      .formulas =
          {"q (k + b_K) = q k + q b_K: \"the same for every key, so P and y do not change\"",
           "{dL}/{db_K} = \"sum over queries of\" q sum_j dS_j = 0: \"rows of dS sum to 0\"",
           "P (v + 1 b_V^T) = P v + b_V \"when rows of P sum to 1:\" b_O' = b_O + sum_h W_O^h "
           "b_V^h"},
      .defaults = {.width = 64, .heads = 4},
      .limits = {.most_heads = 16, .least_head_dim = 4, .most_width = 128},
      .run = dead_parameters::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
