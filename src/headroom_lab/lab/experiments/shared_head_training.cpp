// shared-head-training: the effect on quality of one small projection that all heads share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/key_model.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace shared_head_training {

constexpr int seeds = 10;
constexpr Index steps = 240, batch_size = 32, test_size = 128;
constexpr double significant = 0.05;
// At these sizes shared projections are claimed to be worse with equal parameters, too. With two
// heads that is too close to say, and in wider layers the errors vary too much between seeds.
constexpr Index claimed_heads = 3, claimed_width = 32;

struct Job {
  const char* name;
  KeyTask task;
};
constexpr Job jobs[] = {{"two relations", two_relations}, {"recall", recall}};

/// The models that are compared.
enum Variant : std::size_t { own_rows, same_width, same_parameters };
constexpr std::size_t variants = 3;
constexpr const char* names[] = {"own rows for each head", "shared, equal width",
                                 "shared, equal parameters"};

/// The sizes of one model; the tokens have `inputs` numbers in all of them.
struct Size {
  Layout layout;
  Index inputs, width, heads;
};

/// Numbers that a task's outputs have for each token.
Index outputs_of(const Job& job, Index inputs) { return job.task(1, inputs, Rng(0)).target.dim(2); }

Index parameters_of(const Job& job, const Size& size) {
  Rng rng(0);
  KeyModel model(size.inputs, outputs_of(job, size.inputs), size.layout,
                 {.width = size.width, .heads = size.heads}, rng);
  return count_parameters(model);
}

/// The three models of a task. The third one has the width at which the number of parameters is
/// closest to the first one's.
std::vector<Size> sizes_of(const Job& job, const LabOptions& options) {
  const Index width = options.width, heads = options.heads;
  const Size own{Layout::fused, width, width, heads};
  const Size shared{Layout::shared, width, width, heads};
  const Index wanted = parameters_of(job, own);
  const auto apart = [&](const Size& size) { return std::abs(parameters_of(job, size) - wanted); };
  Size wide = shared;
  for (Size next = wide; parameters_of(job, next) < 2 * wanted; next.width += heads) {
    if (apart(next) < apart(wide)) wide = next;
  }
  return {own, shared, wide};
}

/// The test error over the variance of the targets, before and after training.
struct Result {
  double before, after;
  double log_after() const { return std::log(after); }
  double log_before() const { return std::log(before); }
};

Result train(const Job& job, const Size& size, std::uint64_t seed) {
  Rng rng(seed, "shared-head-training start");
  const auto batch_of = [&](Index examples, const char* stream, std::uint64_t index) {
    return job.task(examples, size.inputs, Rng(seed, stream, index));
  };
  const KeyBatch test = batch_of(test_size, "shared-head-training test", 0);
  KeyModel model(size.inputs, test.target.dim(2), size.layout,
                 {.width = size.width, .heads = size.heads}, rng);
  AdamW adam(model, {.weight_decay = 0});
  Trainer trainer(
      adam, RateOptions{.shape = RateShape::cosine, .peak = 1e-2, .warmup = 20, .steps = steps},
      {.seed = seed});
  const auto error = [&] {
    const NoGrad quiet;
    return double(squared_error(model(test.x), test.target).item());
  };
  Result result{error(), 0};
  while (trainer.steps() < steps) {
    const KeyBatch batch = batch_of(batch_size, "shared-head-training batches",
                                    static_cast<std::uint64_t>(trainer.steps()));
    trainer.step([&] { return squared_error(model(batch.x), batch.target); });
  }
  result.after = error();
  return result;
}

/// The models of one task and their results.
struct Comparison {
  const Job* job;
  Grid<Size, Result> results;  // by variant
};

Comparison compare(const Job& job, const LabOptions& options) {
  return {&job, {sizes_of(job, options), seeds, [&](const Size& size, std::uint64_t draw) {
                   return train(job, size, seed_of_draw(options.seed, draw));
                 }}};
}

/// The cost of sharing on one task: the error divided by that with own rows.
struct Cost {
  const Comparison* comparison;
  Variant variant;
  PairedContrast of_logs;
  double adjusted_p = 1;  // by Holm's method over all of them

  Interval ratio() const {
    std::vector<double> ratios = of_logs.interval.value().draws;
    for (double& ratio : ratios) ratio = std::exp(ratio);
    return geometric_mean(ratios);
  }
  bool decided() const { return adjusted_p < significant; }
  bool worse() const { return decided() && of_logs.mean > 0; }
  const char* verdict() const {
    return !decided() ? "too close to say" : worse() ? "worse" : "better";
  }
};

std::vector<Cost> costs_of(const std::vector<Comparison>& comparisons) {
  std::vector<Cost> costs;
  std::vector<double> p;
  for (const Comparison& comparison : comparisons) {
    for (const Variant variant : {same_width, same_parameters}) {
      costs.push_back({&comparison, variant,
                       paired_contrast(comparison.results[variant].all(&Result::log_after),
                                       comparison.results[own_rows].all(&Result::log_after))});
      p.push_back(costs.back().of_logs.p.value());
    }
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i].adjusted_p = adjusted[i];
  return costs;
}

void show_results(const Comparison& comparison, Notebook& book) {
  Notebook::Rows rows;
  const auto error = [&](std::size_t v) {
    return geometric_mean(comparison.results[v].all(&Result::after));
  };
  for (std::size_t v = 0; v < variants; ++v) {
    const Size& size = comparison.results.cases()[v];
    rows.push_back({names[v], size.width, parameters_of(*comparison.job, size), error(v)});
  }
  book.table(sentence("{}: test error {:.2g} with own rows, {:.2g} and {:.2g} with shared ones",
                      comparison.job->name, error(own_rows).value, error(same_width).value,
                      error(same_parameters).value),
             sentence("The squared error over the variance of the targets after {} steps; "
                      "geometric means of {} seeds with 95 % intervals. Data and batches of a seed "
                      "are the same for all models. The third model has the width at which its "
                      "number of parameters is closest to the first one's.",
                      steps, seeds),
             {"model", "width", "parameters", "test error"}, rows);
}

/// "worse on two relations, too close to say on recall"
std::string verdicts(const std::vector<Cost>& costs, Variant variant) {
  std::string text;
  for (const Cost& cost : costs) {
    if (cost.variant != variant) continue;
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", cost.verdict(),
                        cost.comparison->job->name);
  }
  return text;
}

void claim_sizes(const LabOptions& options, const Comparison& comparison, Notebook& book) {
  const std::string task = comparison.job->name;
  const Index width = options.width, d = options.head_dim();
  const auto parameters = [&](Size size) { return parameters_of(*comparison.job, size); };
  const std::vector<Size>& sizes = comparison.results.cases();
  const Size &own = sizes[own_rows], &wide = sizes[same_parameters];
  book.equal(task + ": parameters saved by sharing at equal width, 3 C (C + 1) - 3 D^2",
             double(parameters(own) - parameters(sizes[same_width])),
             double(3 * width * (width + 1) - 3 * d * d));  // the shared matrices have no bias
  Size wider = wide;
  wider.width += options.heads;
  book.at_most(task + ": |difference of parameters| over that of one step of the width",
               std::abs(double(parameters(wide) - parameters(own))) /
                   double(parameters(wider) - parameters(wide)),
               1);
}

/// The verdicts of the answer, for the sizes at which they hold for any seed.
void claim_verdicts(const LabOptions& options, const std::vector<Cost>& costs, Notebook& book) {
  const bool all = options.heads >= claimed_heads && options.width <= claimed_width;
  double largest_p = 0;
  for (const Cost& cost : costs) {
    if (cost.variant != same_width && !all) continue;
    book.more_than(fmt::format("{}, {}: error over that with own rows, lower end of the 95 % "
                               "interval",
                               cost.comparison->job->name, names[cost.variant]),
                   cost.ratio().low, 1);
    largest_p = larger(largest_p, cost.adjusted_p);
  }
  book.at_most("largest p of these ratios", largest_p, significant);
}

void run(const LabOptions& options, Notebook& book) {
  std::vector<Comparison> comparisons;
  for (const Job& job : jobs) comparisons.push_back(compare(job, options));
  const std::vector<Cost> costs = costs_of(comparisons);
  Notebook::Rows rows;
  for (const Cost& cost : costs) {
    rows.push_back({cost.comparison->job->name, names[cost.variant], cost.ratio(), cost.adjusted_p,
                    cost.verdict()});
  }
  for (const Comparison& comparison : comparisons) show_results(comparison, book);
  book.table("Error of the shared models divided by that with own rows",
             sentence("Geometric mean of the ratios of {} paired seeds with 95 % intervals; above "
                      "1 the shared model is worse. p is that of Student's test of the logarithms, "
                      "corrected for the number of rows by Holm's method. At {} or above the "
                      "verdict is \"too close to say\".",
                      seeds, significant),
             {"task", "model", "ratio of errors", "p", "verdict"}, rows);
  book.figure();
  for (const Comparison& comparison : comparisons) {
    claim_sizes(options, comparison, book);
    const auto least_fall = [](const Survey<Result>& one) {
      return paired_contrast(one.all(&Result::log_before), one.all(&Result::log_after))
          .interval.value()
          .low;
    };
    // Models that learn nothing would be compared by their starts.
    book.more_than(fmt::format("{}: fall of log(error) by training, lowest end of the 95 % "
                               "intervals of the models",
                               comparison.job->name),
                   smallest(comparison.results.by_case(least_fall)), 0);
  }
  claim_verdicts(options, costs, book);
  const Index worse =
      std::count_if(costs.begin(), costs.end(), [](const Cost& cost) { return cost.worse(); });
  book.answer(sentence(
      "At equal width, shared projections are {}; in a wider layer, which has as many parameters "
      "as the one with own rows, they are {}. Sharing costs quality in {} of {} comparisons, with "
      "{} seeds each.",
      verdicts(costs, same_width), verdicts(costs, same_parameters), worse, Index(costs.size()),
      seeds));
}

}  // namespace shared_head_training
}  // namespace

Experiment shared_head_training_experiment() {
  return {
      .name = "shared-head-training",
      .title = "Does it cost quality if all heads share one small matrix?",
      .question =
          "What does it cost in quality if every head applies the same Linear(head_dim, head_dim) "
          "to its slice of the embedding, at equal width and with equal parameters?",
      .computed =
          "A linear layer, an attention and a linear layer train on two tasks whose needed "
          "keys are known. In \"two relations\" each token needs the contents of the token "
          "before and of a token that a pointer names; in \"recall\" that of the token with "
          "a given key code. The attention has own rows for each head, or shared projections "
          "at equal width or, in a wider layer, with equal parameters. The test errors are "
          "compared in pairs of "
          "equal seeds, 10 each.",
      .formulas = {"\"own rows:\" 4 C^2 + 4 C \"parameters of the attention\"",
                   "\"shared:\" 3 D^2 + C^2 + C, D = C / h",
                   "\"ratio\" = exp(\"mean over seeds of\" log(e_{shared} / e_{own}))"},
      .defaults = {.width = 32, .heads = 4},
      .limits = {.least_heads = 2, .most_heads = 16, .least_head_dim = 4, .most_width = 64},
      .run = shared_head_training::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
