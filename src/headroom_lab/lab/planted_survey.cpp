// Measures the losses of planted models, and how well every metric finds their planted heads.
#include "lab/planted_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double planted_auc(std::span<const double> planted, std::span<const double> noise) {
  double largest = 0, sum = 0;
  for (const double score : planted) largest = larger(largest, std::abs(score));
  for (const double score : noise) largest = larger(largest, std::abs(score));
  const double tied = by_precision(1e-9, 1e-4) * largest;
  for (const double a : planted) {
    for (const double b : noise) sum += a > b + tied ? 1 : a < b - tied ? 0 : 0.5;
  }
  return sum / double(planted.size() * noise.size());
}

namespace {

constexpr Index batch_size = 16;

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

void read_maps(PlantedModel& model, const PlantedExamples& examples, PlantedFound& into) {
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

/// Trains all weights further on new examples of the task.
void train_on(PlantedModel& model, PlantedTask task, const LabOptions& options, Index steps,
              std::uint64_t seed) {
  AdamW adam(model, {.weight_decay = 0});
  Trainer trainer(adam, RateOptions{.shape = RateShape::cosine, .peak = 3e-3, .steps = steps},
                  {.seed = seed});
  Rng rng(seed, fmt::format("planted-heads, {}, batches", name_of(task)));
  while (trainer.steps() < steps) {
    PlantedLearner batch(model,
                         draw_examples(task, batch_size, options.head_dim(), options.width, rng));
    trainer.step([&] { return batch.loss(); });
  }
}

PlantedFound examine(PlantedTask task, const LabOptions& options, Index steps, std::uint64_t seed) {
  const std::string stream = fmt::format("planted-heads, {}, ", name_of(task));
  Rng weights(seed, stream + "weights"), measured(seed, stream + "measured"),
      tested(seed, stream + "tested");
  PlantedModel model(task, options.width, options.heads, weights);
  const auto draw = [&](Index count, Rng& rng) {
    return draw_examples(task, count, options.head_dim(), options.width, rng);
  };
  if (steps > 0) train_on(model, task, options, steps, seed);
  PlantedLearner learner(model, draw(planted_measured, measured));
  const PlantedExamples test = draw(planted_tested, tested);
  PlantedFound found;
  found.strength = 1;
  for (const PlantedHead& one : model.planted()) {
    found.strength = smaller(found.strength, one.strength);
  }
  found.all = accuracy(model, test, Kept::all);
  found.planted = accuracy(model, test, Kept::planted);
  found.noise = accuracy(model, test, Kept::noise);
  read_maps(model, test, found);

  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  HeadGame game(learner, ExampleSet::importance, planted_measured);
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
    found.aucs[column.info.name] = planted_auc(planted, noise);
    if (column.info.name != "magnitude") continue;
    found.norms_apart = largest(column.scores) / smallest(column.scores) - 1;
  }
  return found;
}

}  // namespace

PlantedSurveys planted_surveys(const LabOptions& options, Index draws, Index steps) {
  return {{std::begin(planted_tasks), std::end(planted_tasks)},
          draws,
          [&](PlantedTask task, std::uint64_t draw) {
            return examine(task, options, steps, seed_of_draw(options.seed, draw));
          }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
