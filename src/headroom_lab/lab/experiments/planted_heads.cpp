// planted-heads: metrics of importance on models whose important heads are known by construction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "headroom/base/extremes.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "lab/numbers.hpp"
#include "lab/planted_survey.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace planted_heads {

/// Models of each task, and the steps of those that are trained further: fewer for the small widths
/// of a quick look.
Index models_for(const LabOptions& options) { return options.width < 32 ? 10 : 30; }
Index steps_for(const LabOptions& options) { return options.width < 32 ? 100 : 300; }
constexpr double significant = 0.01;
constexpr double chance = 0.5, found_from = 0.95;  // borders between groups of metrics

/// The p-value of "the mean is at this border", by Student's test. Models that all have the same
/// AUC leave no doubt on which side of a border it is.
double p_of(std::span<const double> aucs, double border) {
  const double mean = mean_of(aucs);
  double squares = 0;
  for (const double auc : aucs) squares += (auc - mean) * (auc - mean);
  const auto n = double(aucs.size());
  const double error = std::sqrt(squares / (n - 1) / n);
  const double apart = std::abs(mean - border);
  if (error < same_values) return apart < same_values ? 1 : 0;
  return student_p(apart / error, std::ssize(aucs) - 1);
}

/// Groups of metrics by their mean AUC, and two lines for metrics that are in none.
enum Line : std::size_t { finds, above_chance, below_chance, always_even, near_found, near_chance };
constexpr const char* line_names[] = {"finds the planted heads",
                                      "better than chance",
                                      "worse than chance",
                                      "0.5 in every model",
                                      "better than chance, 0.95 undecided",
                                      "chance undecided"};

/// A metric over all models.
struct Verdict {
  std::string metric, cost;
  std::vector<Interval> by_task = {};
  Interval mean = {};  // over all models
  Line line = near_chance;
};

/// The metrics of all models as they were planted, and after further training.
struct Variants {
  Index models, steps;  // models of each task, steps of the training
  PlantedSurveys planted, trained;
};

/// The AUC of a metric in one model.
auto auc_of(const std::string& metric) {
  return [metric](const PlantedFound& found) { return found.aucs.at(metric); };
}

/// The p-values of "this metric is not on one side of 0.5 in every task", and of "it is neither
/// above 0.95 in every task nor below it in some": the largest p-value of the tasks that all have
/// to be on one side, and the smallest, times their number, where one is enough.
std::array<double, 2> doubts(const std::vector<std::vector<double>>& aucs) {
  double at_chance = 0, at_found = 0, below_found = 1;
  std::size_t above = 0, high = 0;
  for (const std::vector<double>& of_task : aucs) {
    const double mean = mean_of(of_task), found = p_of(of_task, found_from);
    at_chance = larger(at_chance, p_of(of_task, chance));
    at_found = larger(at_found, found);
    if (mean < found_from) below_found = smaller(below_found, found);
    above += mean > chance ? 1 : 0;
    high += mean > found_from ? 1 : 0;
  }
  const std::size_t tasks = aucs.size();
  return {above == 0 || above == tasks ? at_chance : 1,
          high == tasks ? at_found : smaller(1, double(tasks) * below_found)};
}

/// The line of a metric, by its adjusted p-values.
Line line_of(const Verdict& verdict, double at_chance, double at_found) {
  const auto low = [](const Interval& of_task) { return of_task.value < found_from; };
  const auto even = [](const Interval& of_task) {
    return std::abs(of_task.low - chance) + std::abs(of_task.high - chance) < same_values;
  };
  const std::vector<Interval>& tasks = verdict.by_task;
  if (std::all_of(tasks.begin(), tasks.end(), even)) return always_even;
  if (at_chance >= significant) return near_chance;
  if (verdict.mean.value < chance) return below_chance;
  if (at_found >= significant) return near_found;
  return std::any_of(tasks.begin(), tasks.end(), low) ? above_chance : finds;
}

/// A metric is in a group only if the border is clear in every task: a mean over tasks may be far
/// from a border that one of them is at, and then the group changes with the seeds.
std::vector<Verdict> verdicts_of(const PlantedSurveys& surveys) {
  std::vector<Verdict> verdicts;
  std::vector<double> p;
  const Survey<PlantedFound> all = surveys.all();
  for (const MetricEntry& entry : head_metrics()) {
    const std::string& name = entry.info.name;
    if (!surveys[0].samples()[0].aucs.contains(name)) continue;
    Verdict& verdict = verdicts.emplace_back(Verdict{name, entry.info.cost});
    const auto its_auc = auc_of(name);
    std::vector<std::vector<double>> aucs;
    for (std::size_t task = 0; task < surveys.size(); ++task) {
      aucs.push_back(surveys[task].all(its_auc));
      verdict.by_task.push_back(share_interval(aucs.back()));
    }
    verdict.mean = share_interval(all.all(its_auc));
    for (const double doubt : doubts(aucs)) p.push_back(doubt);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    verdicts[i].line = line_of(verdicts[i], adjusted[2 * i], adjusted[2 * i + 1]);
  }
  std::stable_sort(verdicts.begin(), verdicts.end(),
                   [](const Verdict& a, const Verdict& b) { return a.mean.value > b.mean.value; });
  return verdicts;
}

/// A column of a Grid: the mean of shares, with an interval inside [0, 1].
template <class Part>
auto mean_share(Part part) {
  return [part](const Survey<PlantedFound>& survey) { return share_interval(survey.all(part)); };
}

/// The metrics of a line, in order of their means: "fisher, path", and their number.
std::pair<std::string, Index> with(const std::vector<Verdict>& verdicts, Line line) {
  std::string names;
  Index count = 0;
  for (const Verdict& verdict : verdicts) {
    if (verdict.line != line) continue;
    names += (count++ == 0 ? "" : ", ") + verdict.metric;
  }
  return {count == 0 ? "none" : names, count};
}

void show_groups(const std::vector<Verdict>& verdicts, Index models, Notebook& book) {
  Notebook::Rows groups, counts;
  for (const Line line :
       {finds, above_chance, below_chance, always_even, near_found, near_chance}) {
    const auto [names, count] = with(verdicts, line);
    groups.push_back({line_names[line], names});
    counts.push_back({count, line_names[line]});
  }
  const auto tasks = Index(std::size(planted_tasks));
  book.table(
      sentence("Planted heads are found by {} of {} metrics; the best has an AUC of {:.3g}",
               with(verdicts, finds).second, Index(verdicts.size()), verdicts[0].mean.value),
      sentence(
          "In the order of the mean AUC over {} models. A metric finds the planted heads if "
          "its mean AUC is clearly above 0.95 in every task. It is better than chance if it is "
          "clearly above 0.5 in every task and clearly below 0.95 in one, and worse if it is "
          "clearly below 0.5 in every task. Clearly: Student's test over {} models with "
          "p < {}, corrected for {} tests by Holm's method. Other seeds may put the metrics of "
          "the last two lines on either side of a border.",
          models * tasks, models, significant, 2 * Index(verdicts.size())),
      {"metrics", "group"}, counts);
  book.figure();  // without the names, which would not fit on the first screen of a phone
  book.table("The metrics of each group", "", {"verdict", "metrics"}, groups);
}

/// The mean AUCs by task and over all, with intervals.
void show_aucs(const std::vector<Verdict>& verdicts, Text title, Text caption, Notebook& book) {
  Notebook::Rows rows;
  for (const Verdict& verdict : verdicts) {
    std::vector<Value> row{verdict.metric, verdict.cost};
    for (const Interval& of_task : verdict.by_task) row.push_back(of_task);
    row.push_back(verdict.mean);
    rows.push_back(std::move(row));
  }
  std::vector<std::string> columns{"metric", "cost"};
  for (const PlantedTask task : planted_tasks) columns.push_back(name_of(task));
  columns.push_back("all");
  book.table(std::move(title), std::move(caption), columns, rows);
}

void show_accuracies(const Variants& all, const LabOptions& options, Notebook& book) {
  Notebook::Rows rows;
  for (const PlantedSurveys* surveys : {&all.planted, &all.trained}) {
    const Index steps = surveys == &all.planted ? 0 : all.steps;
    Notebook::Rows some =
        surveys->rows([](PlantedTask task) { return name_of(task); },
                      [&](PlantedTask) { return steps; }, mean_share(&PlantedFound::all),
                      mean_share(&PlantedFound::planted), mean_share(&PlantedFound::noise),
                      mean_share(&PlantedFound::weight), mean_share(&PlantedFound::noise_weight));
    std::move(some.begin(), some.end(), std::back_inserter(rows));
  }
  book.table(
      "Accuracy with the planted heads and with the noise heads only",
      sentence("Accuracy on {} examples with all {} heads, with the planted ones only and "
               "with the noise heads only; chance is {:.2g}. The weight is the mean "
               "attention to the key that the role needs: the smallest of the planted heads "
               "and the largest of the noise heads in the same attention. Means of {} models "
               "with 95 % intervals, as planted (0 steps) and trained on.",
               planted_tested, 2 * options.heads, 1 / double(options.head_dim()), all.models),
      {"task", "steps", "all heads", "planted only", "noise only", "weight, planted",
       "weight, noise"},
      rows);
}

void show_maps(const PlantedSurveys& surveys, const LabOptions& options, Notebook& book) {
  std::vector<Notebook::Map> maps;
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    for (const auto& [name, map] : surveys[i].samples().front().maps) {
      maps.push_back({fmt::format("{}: {}", name_of(surveys.cases()[i]), name), map});
    }
  }
  book.maps("Attention weights of planted and noise heads for one example of each task",
            "The first model of each task. Rows are queries, columns are keys.",
            numbered("token", options.head_dim()), numbered("token", options.head_dim()), maps);
}

/// The metrics whose AUC changes clearly with further training, over the pairs of all models.
struct Changed {
  Index lower = 0, higher = 0;
};
Changed changed(const Variants& all, const std::vector<Verdict>& verdicts) {
  std::vector<double> means, p;
  for (const Verdict& verdict : verdicts) {
    const auto its_auc = auc_of(verdict.metric);
    const PairedContrast change =
        paired_contrast(all.trained.all().all(its_auc), all.planted.all().all(its_auc));
    means.push_back(change.mean);
    p.push_back(change.p.value_or(1));
  }
  const std::vector<double> adjusted = holm(p);
  Changed counts;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (adjusted[i] >= significant) continue;
    ++(means[i] < 0 ? counts.lower : counts.higher);
  }
  return counts;
}

const Verdict& named(const std::vector<Verdict>& verdicts, const std::string& metric) {
  return *std::find_if(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& v) { return v.metric == metric; });
}

void claim_construction(const PlantedSurveys& surveys, const LabOptions& options, Notebook& book) {
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    const Survey<PlantedFound>& survey = surveys[i];
    const std::string task = name_of(surveys.cases()[i]);
    const double noise = survey.mean(&PlantedFound::noise).value;
    book.at_least(task + ": accuracy with the planted heads only over that with the noise heads",
                  survey.mean(&PlantedFound::planted).value / noise, 1.2);
    book.at_most(task + ": accuracy with the noise heads only", noise,
                 2 / double(options.head_dim()));
    book.at_least(
        task + ": rank correlation of strength and accuracy with the planted heads only",
        rank_correlation(survey.all(&PlantedFound::strength), survey.all(&PlantedFound::planted)),
        0.3);
  }
  book.at_most("largest relative difference between the norms of two heads of a model",
               surveys.all().largest(&PlantedFound::norms_apart), same_values);
}

void claim_metrics(const std::vector<Verdict>& verdicts, Notebook& book) {
  book.at_least("leave_one_out, the cost of removal: mean AUC",
                named(verdicts, "leave_one_out").mean.value, 0.7);
  // The AUC of one head among n others has a standard deviation of at most 0.35.
  book.within("random scores: mean AUC", named(verdicts, "random").mean.value, 0.3, 0.7);
  book.at_most("magnitude, which is equal for all heads: |mean AUC - 0.5|",
               std::abs(named(verdicts, "magnitude").mean.value - 0.5), same_values);
  book.at_most("best metric: mean AUC over all models", verdicts[0].mean.value, 0.999);
}

void answer(const Variants& all, const std::vector<Verdict>& verdicts,
            const std::vector<Verdict>& afterwards, Notebook& book) {
  const Verdict& cost = named(verdicts, "leave_one_out");
  const auto [better, above] = with(verdicts, above_chance);
  const auto [reversed, wrong] = with(verdicts, below_chance);
  const auto [close, high] = with(verdicts, near_found);
  const auto [open, unknown] = with(verdicts, near_chance);
  const Changed training = changed(all, verdicts);
  const std::vector<std::string>& absent = all.planted[0].samples()[0].absent;
  book.answer(
      sentence("{} of {} metrics rank the planted heads above the noise heads with a mean AUC "
               "clearly above 0.95 in each of four tasks; the best, {}, has {:.3g}, and removing "
               "each head has {:.3g}. {} more are better than chance, {} rank the planted heads "
               "below the noise heads, and {} are on neither side of chance in every task.",
               with(verdicts, finds).second, Index(verdicts.size()), verdicts[0].metric,
               verdicts[0].mean.value, cost.mean.value, above + high, wrong, unknown),
      sentence("After {} steps of training from there, the number of metrics whose mean AUC is "
               "clearly lower is {}, of those that are higher {}; the best, {}, has {:.3g}. As "
               "planted, better than chance, but 0.95 is undecided: {}. On neither side of chance "
               "in every task: {}. Worse than chance: {}. Noise heads have the norms of planted "
               "ones, so that magnitude cannot find them by construction. Without scores here: {}.",
               all.steps, training.lower, training.higher, afterwards[0].metric,
               afterwards[0].mean.value, close, open, reversed,
               absent.empty() ? "none" : fmt::to_string(fmt::join(absent, ", "))));
}

void run(const LabOptions& options, Notebook& book) {
  const Index models = models_for(options), steps = steps_for(options);
  const Variants all{models, steps, planted_surveys(options, models, 0),
                     planted_surveys(options, models, steps)};
  const std::vector<Verdict> verdicts = verdicts_of(all.planted),
                             afterwards = verdicts_of(all.trained);
  show_groups(verdicts, models, book);
  show_aucs(verdicts, "AUC of planted against noise heads by metric and task",
            sentence("The probability that a planted head scores higher than a noise head of its "
                     "model; 0.5 is chance. Means of {} models of each task with 95 % intervals "
                     "inside [0, 1], on {} examples. Cost is in passes over the examples: F "
                     "forward, B forward and backward, N heads.",
                     models, planted_measured),
            book);
  const Changed training = changed(all, verdicts);
  show_aucs(afterwards,
            sentence("Trained on for {} steps: number of metrics with a clearly lower AUC {}, with "
                     "a higher one {}",
                     steps, training.lower, training.higher),
            sentence("The same models after AdamW with a learning rate of 0.003 and a batch of 16 "
                     "has changed all their weights: noise heads may have learnt the task, too. "
                     "Clearly: Student's test of the paired differences over all models, p < {} "
                     "after Holm's correction.",
                     significant),
            book);
  show_accuracies(all, options, book);
  show_maps(all.planted, options, book);
  claim_construction(all.planted, options, book);
  claim_metrics(verdicts, book);
  answer(all, verdicts, afterwards, book);
}

}  // namespace planted_heads
}  // namespace

Experiment planted_heads_experiment() {
  return {
      .name = "planted-heads",
      .title = "Which metrics of importance find heads whose role is known?",
      .question =
          "Which metrics of importance find the heads that do a task, in models where weights "
          "written by hand say which heads these are?",
      .computed =
          "In each model, one or two heads get weights for a role: attending to the token before, "
          "induction, the partner of a bracket, or copying from an encoder. They are mixed with "
          "random weights, by a strength that is drawn for each head from 0.3 to 0.9 (0.6 to 1 for "
          "the two heads of induction, of which each needs the other), so that heads matter more "
          "or less. All other heads have random weights of the same norms. There are four tasks "
          "and 30 models of each, 10 for widths below 32. Every metric scores all heads, and the "
          "AUC says how well the scores separate planted from noise heads. Then the same models "
          "are trained on for 300 steps (100) and measured again. Removing each head and random "
          "scores are the controls.",
      .formulas = {"\"AUC\" = P(s_{planted} \">\" s_{noise}) + P(s_{planted} = s_{noise}) / 2",
                   "W = s W_{role} + sqrt(1 - s^2) W_{random} \", scaled to\" |W_{role}|\", for a "
                   "strength\" s",
                   "S = q K^T / sqrt(D) = 50 \"at the key of the role, 0 elsewhere, for\" s = 1",
                   "|W_{noise}| = |W_{planted}| \"for each of\" W_Q, W_K, W_V, W_O"},
      .defaults = {.width = 48, .heads = 4},
      .limits = {.least_heads = 4, .most_heads = 8, .least_head_dim = 6, .most_width = 96},
      .run = planted_heads::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
