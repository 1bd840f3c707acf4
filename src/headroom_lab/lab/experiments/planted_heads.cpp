// planted-heads: metrics of importance on models whose important heads are known by construction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "lab/numbers.hpp"
#include "lab/planted_model.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace planted_heads {

constexpr int seeds = 10;
constexpr Index measured_examples = 16, tested_examples = 64;
constexpr double significant = 0.01;
constexpr double chance = 0.5, found_from = 0.95;  // borders between groups of metrics

/// The probability that a planted head has a higher score than a noise head, of which ties count
/// one half: the area under the ROC curve. Scores that differ by rounding only are tied.
double auc(std::span<const double> planted, std::span<const double> noise) {
  double largest = 0, sum = 0;
  for (const double score : planted) largest = larger(largest, std::abs(score));
  for (const double score : noise) largest = larger(largest, std::abs(score));
  const double tied = by_precision(1e-9, 1e-4) * largest;
  for (const double a : planted) {
    for (const double b : noise) sum += a > b + tied ? 1 : a < b - tied ? 0 : 0.5;
  }
  return sum / double(planted.size() * noise.size());
}

/// The gates of some heads: 1 for those that are kept.
enum class Kept { all, planted, noise };

/// Share of the labels that the model predicts right with the kept heads.
double accuracy(PlantedModel& model, const PlantedExamples& examples, Kept kept) {
  const NoGrad quiet;
  HeadProbe probe;
  for (const NamedAttention& found : attentions(model)) {
    Array gates = kept == Kept::planted ? zeros({found.attention->config().heads})
                                        : ones({found.attention->config().heads});
    for (const PlantedHead& one : model.planted()) {
      const bool here = AttentionLocation{one.head.kind, one.head.layer} == found.location();
      if (here && kept != Kept::all) gates[one.head.head] = kept == Kept::planted ? 1 : 0;
    }
    probe.gates[found.location()] = Tensor(gates);
  }
  const Array logits = model(examples, &probe).value();
  const Index letters = logits.dim(2);
  Index right = 0, labels = 0;
  for (Index i = 0; i < examples.labels.size(); ++i) {
    if (examples.labels[i] < 0) continue;
    const Real* const row = logits.data() + i * letters;
    right += Index{std::max_element(row, row + letters) - row == examples.labels[i]};
    ++labels;
  }
  return double(right) / double(labels);
}

/// One model: whether its heads do what was planted, and whether each metric finds them.
struct Found {
  double all, planted, noise;          // accuracy with these heads
  double weight;                       // on the key of the role, mean; smallest planted head
  double noise_weight;                 // likewise, largest noise head
  double norms_apart;                  // largest relative difference of two heads' norms
  std::map<std::string, double> aucs;  // by metric
  std::vector<std::string> absent;     // metrics without scores
  std::vector<std::pair<std::string, Array>> maps;  // of the first example: planted and noise
};

/// The mean weight that a head gives to the keys of a role, over the queries that need them.
double weight_on(const Array& maps, Index head, const std::vector<Index>& keys) {
  const Index heads = maps.dim(1), tokens = maps.dim(2), all = maps.dim(3);
  double sum = 0, queries = 0;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] < 0) continue;
    const Index example = Index(row) / tokens, t = Index(row) % tokens;
    sum += double(maps[((example * heads + head) * tokens + t) * all + keys[row]]);
    ++queries;
  }
  return sum / queries;
}

void read_maps(PlantedModel& model, const PlantedExamples& examples, Found& into) {
  const NoGrad quiet;
  HeadProbe probe;
  probe.maps = true;
  model(examples, &probe);
  into.weight = 1;
  into.noise_weight = 0;
  for (std::size_t role = 0; role < model.planted().size(); ++role) {
    const PlantedHead& planted = model.planted()[role];
    const Array maps =
        probe.seen.at({planted.head.kind, planted.head.layer}).maps.value();  // [B, H, T, T]
    const Index heads = maps.dim(1), square = maps.dim(2) * maps.dim(3);
    for (Index head = 0; head < heads; ++head) {
      const bool is_planted = head == planted.head.head;
      const double weight = weight_on(maps, head, examples.keys[role]);
      if (is_planted) {
        into.weight = smaller(into.weight, weight);
      } else {
        into.noise_weight = larger(into.noise_weight, weight);
      }
      if (!is_planted && head != (planted.head.head + 1) % heads) continue;
      Array map({maps.dim(2), maps.dim(3)});
      std::copy_n(maps.data() + head * square, square, map.data());
      into.maps.emplace_back(is_planted ? planted.role : "noise", map);
    }
  }
}

Found examine(PlantedTask task, const LabOptions& options, std::uint64_t seed) {
  const std::string stream = fmt::format("planted-heads, {}, ", name_of(task));
  Rng weights(seed, stream + "weights"), measured(seed, stream + "measured"),
      tested(seed, stream + "tested");
  PlantedModel model(task, options.width, options.heads, weights);
  const auto draw = [&](Index count, Rng& rng) {
    return draw_examples(task, count, options.head_dim(), options.width, rng);
  };
  PlantedLearner learner(model, draw(measured_examples, measured));
  const PlantedExamples test = draw(tested_examples, tested);
  Found found;
  found.all = accuracy(model, test, Kept::all);
  found.planted = accuracy(model, test, Kept::planted);
  found.noise = accuracy(model, test, Kept::noise);
  read_maps(model, test, found);

  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  HeadGame game(learner, ExampleSet::importance, measured_examples);
  const ImportanceTable table = measure_importance(game, names, {.seed = seed});
  for (const auto& [info, reason] : table.absent) found.absent.push_back(info.name);
  for (const ImportanceTable::Column& column : table.columns) {
    std::vector<double> planted, noise;
    for (const HeadScore& score : table.importance(column.info.name)) {
      const bool is_planted =
          std::any_of(model.planted().begin(), model.planted().end(),
                      [&](const PlantedHead& one) { return one.head == score.head; });
      (is_planted ? planted : noise).push_back(score.score);
    }
    found.aucs[column.info.name] = auc(planted, noise);
    if (column.info.name != "magnitude") continue;
    found.norms_apart = largest(column.scores) / smallest(column.scores) - 1;
  }
  return found;
}

/// The p-value of "the mean is at this border", by Student's test. Models that all have the same
/// AUC leave no doubt on which side of a border it is.
double p_of(std::span<const double> aucs, double border) {
  const Interval mean = mean_interval(aucs);
  double squares = 0;
  for (const double auc : aucs) squares += (auc - mean.value) * (auc - mean.value);
  const auto n = double(aucs.size());
  const double error = std::sqrt(squares / (n - 1) / n);
  const double apart = std::abs(mean.value - border);
  if (error < same_values) return apart < same_values ? 1 : 0;
  return student_p(apart / error, std::ssize(aucs) - 1);
}

/// Groups of metrics by their mean AUC, and two lines for metrics that are in none.
enum Line : std::size_t { finds, above_chance, below_chance, always_even, near_found, near_chance };
constexpr const char* line_names[] = {"finds the planted heads",
                                      "better than chance",
                                      "worse than chance",
                                      "0.5 in every model",
                                      "in no group: better than chance, 0.95 undecided",
                                      "in no group: on no side of chance in every task"};

/// A metric over all models.
struct Verdict {
  std::string metric, cost;
  std::vector<Interval> by_task = {};
  Interval mean = {};  // over all models
  Line line = near_chance;
};

using Surveys = Grid<PlantedTask, Found>;

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
std::vector<Verdict> verdicts_of(const Surveys& surveys) {
  std::vector<Verdict> verdicts;
  std::vector<double> p;
  const Survey<Found> all = surveys.all();
  for (const MetricEntry& entry : head_metrics()) {
    const std::string& name = entry.info.name;
    if (!surveys[0].samples()[0].aucs.contains(name)) continue;
    Verdict& verdict = verdicts.emplace_back(Verdict{name, entry.info.cost});
    const auto auc_of = [&](const Found& f) { return f.aucs.at(name); };
    std::vector<std::vector<double>> aucs;
    for (std::size_t task = 0; task < surveys.size(); ++task) {
      aucs.push_back(surveys[task].all(auc_of));
      verdict.by_task.push_back(mean_interval(aucs.back()));
    }
    verdict.mean = all.mean(auc_of);
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

void show(const Surveys& surveys, const std::vector<Verdict>& verdicts, const LabOptions& options,
          Notebook& book) {
  Notebook::Rows groups, rows;
  for (const Line line :
       {finds, above_chance, below_chance, always_even, near_found, near_chance}) {
    const auto [names, count] = with(verdicts, line);
    groups.push_back({line_names[line], count, names});
  }
  book.table(
      sentence("{} of {} metrics find the planted heads", with(verdicts, finds).second,
               Index(verdicts.size())),
      sentence(
          "In the order of the mean AUC over {} models. A metric finds the planted heads if "
          "its mean AUC is clearly above 0.95 in every task. It is better than chance if it is "
          "clearly above 0.5 in every task and clearly below 0.95 in one, and worse if it is "
          "clearly below 0.5 in every task. Clearly: Student's test over {} models with "
          "p < {}, corrected for {} tests by Holm's method. Other seeds may put the metrics of "
          "the last two lines on either side of a border.",
          seeds * Index(surveys.size()), seeds, significant, 2 * Index(verdicts.size())),
      {"verdict", "metrics", "names"}, groups);
  book.figure();
  for (const Verdict& verdict : verdicts) {
    std::vector<Value> row{verdict.metric, verdict.cost};
    for (const Interval& of_task : verdict.by_task) row.push_back(of_task);
    row.push_back(verdict.mean);
    rows.push_back(std::move(row));
  }
  std::vector<std::string> columns{"metric", "cost"};
  for (const PlantedTask task : planted_tasks) columns.push_back(name_of(task));
  columns.push_back("all");
  book.table("AUC of planted against noise heads by metric and task",
             sentence("The probability that a planted head scores higher than a noise head of its "
                      "model; 0.5 is chance. Means of {} seeds for each task with 95 % intervals, "
                      "on {} examples. Cost is in passes over the examples: F forward, B forward "
                      "and backward, N heads.",
                      seeds, measured_examples),
             columns, rows);
  book.table(
      "The planted heads do the tasks, the noise heads do not",
      sentence("Accuracy on {} examples with all {} heads, with the planted ones only and "
               "with the noise heads only; chance is {:.2g}. The weight is the mean "
               "attention to the key that the role needs: the smallest of the planted heads "
               "and the largest of the noise heads in the same attention. Means of {} seeds "
               "with 95 % intervals.",
               tested_examples, 2 * options.heads, 1 / double(options.head_dim()), seeds),
      {"task", "all heads", "planted only", "noise only", "weight, planted", "weight, noise"},
      surveys.rows([](PlantedTask task) { return name_of(task); }, &Found::all, &Found::planted,
                   &Found::noise, &Found::weight, &Found::noise_weight));
  std::vector<Notebook::Map> maps;
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    for (const auto& [name, map] : surveys[i].samples().front().maps) {
      maps.push_back({fmt::format("{}: {}", name_of(surveys.cases()[i]), name), map});
    }
  }
  book.maps("Attention weights of planted and noise heads for one example of each task",
            "The first seed. Rows are queries, columns are keys.",
            numbered("token", options.head_dim()), numbered("token", options.head_dim()), maps);
}

const Verdict& named(const std::vector<Verdict>& verdicts, const std::string& metric) {
  return *std::find_if(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& v) { return v.metric == metric; });
}

void claim_construction(const Surveys& surveys, const LabOptions& options, Notebook& book) {
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    const Survey<Found>& survey = surveys[i];
    const std::string task = name_of(surveys.cases()[i]);
    book.at_least(task + ": accuracy with the planted heads only",
                  survey.mean(&Found::planted).value, 0.99);
    book.at_least(task + ": accuracy with all heads", survey.mean(&Found::all).value, 0.6);
    book.at_most(task + ": accuracy with the noise heads only", survey.mean(&Found::noise).value,
                 2 / double(options.head_dim()));
    book.at_least(task + ": weight of planted heads on the key of their role",
                  survey.mean(&Found::weight).value, 0.9);
    book.at_most(task + ": largest weight of a noise head on it",
                 survey.mean(&Found::noise_weight).value, 0.6);
  }
  book.at_most("largest relative difference between the norms of two heads of a model",
               surveys.all().largest(&Found::norms_apart), same_values);
}

void run(const LabOptions& options, Notebook& book) {
  const Surveys surveys({std::begin(planted_tasks), std::end(planted_tasks)}, seeds,
                        [&](PlantedTask task, std::uint64_t draw) {
                          return examine(task, options, seed_of_draw(options.seed, draw));
                        });
  const std::vector<Verdict> verdicts = verdicts_of(surveys);
  show(surveys, verdicts, options, book);
  claim_construction(surveys, options, book);
  const Verdict &cost = named(verdicts, "leave_one_out"), &random = named(verdicts, "random");
  book.at_least("leave_one_out, the cost of removal: mean AUC", cost.mean.value, 0.9);
  // The AUC of one head among n others has a standard deviation of at most 0.35.
  book.within("random scores: mean AUC", random.mean.value, 0.3, 0.7);
  book.at_most("magnitude, which is equal for all heads: |mean AUC - 0.5|",
               std::abs(named(verdicts, "magnitude").mean.value - 0.5), same_values);
  const auto [found, count] = with(verdicts, finds);
  const auto [better, above] = with(verdicts, above_chance);
  const auto [reversed, wrong] = with(verdicts, below_chance);
  const auto [close, high] = with(verdicts, near_found);
  const auto [open, unknown] = with(verdicts, near_chance);
  const std::vector<std::string>& absent = surveys[0].samples()[0].absent;
  book.answer(
      sentence("{} of {} metrics rank the planted heads above the noise heads with a mean AUC "
               "clearly above 0.95 in each of four tasks; removing each head, the reference, has "
               "{:.2g}. "
               "{} more are better than chance, and {} rank the planted heads below the noise "
               "heads. {} metrics are on no side of chance in every task.",
               count, Index(verdicts.size()), cost.mean.value, above + high, wrong, unknown),
      sentence("Better than chance, but 0.95 is undecided: {}. On no side of chance in every task: "
               "{}. Worse than chance: {}. Noise heads have the norms of planted ones, so that "
               "magnitude cannot "
               "find them by construction. A map of zeros and ones passes almost no gradient to "
               "W_Q and W_K: the mean AUC of gradient_norms is {:.2g}, that of routing_path "
               "{:.2g}. {} metrics have no scores here: {}.",
               close, open, reversed, named(verdicts, "gradient_norms").mean.value,
               named(verdicts, "routing_path").mean.value, Index(absent.size()),
               fmt::to_string(fmt::join(absent, ", "))));
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
          "induction, the partner of a bracket, or copying from an encoder. All others have random "
          "weights of the same norms. There are four tasks and 10 models of each. Every metric "
          "scores all heads, and the AUC says how well the scores separate planted from noise "
          "heads. Removing each head and random scores are the controls.",
      .formulas = {"\"AUC\" = P(s_{planted} \">\" s_{noise}) + P(s_{planted} = s_{noise}) / 2",
                   "S = q K^T / sqrt(D) = 50 \"at the key of the role, 0 elsewhere\"",
                   "|W_{noise}| = |W_{planted}| \"for each of\" W_Q, W_K, W_V, W_O"},
      .defaults = {.width = 48, .heads = 4},
      .limits = {.least_heads = 4, .most_heads = 8, .least_head_dim = 6, .most_width = 96},
      .run = planted_heads::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
