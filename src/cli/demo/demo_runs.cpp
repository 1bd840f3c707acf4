// The demo's training runs, part by part.
#include "cli/demo/demo_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/demo/demo_cost.hpp"
#include "cli/timing/interleaved.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_runs/records/head_records.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Parameters this far apart have diverged: a thousandth of the maximum.
constexpr double parted_threshold = 1e-3;
/// Shares of the learning steps after which sensitivities and costs are measured.
constexpr double sums_at[] = {1.0 / 13, 3.0 / 13, 6.0 / 13, 10.0 / 13, 1};
bool sums_are_due(Index step, Index steps) {
  return std::any_of(std::begin(sums_at), std::end(sums_at),
                     [&](double share) { return step == std::lround(share * double(steps)); });
}
/// Steps between two measurements of how far apart the layouts are.
constexpr Index difference_every = 5;

std::vector<std::string> tokens_of(const Vocabulary& vocabulary, const Tokens& ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(vocabulary.token(id));
  return tokens;
}

}  // namespace

DemoRuns::DemoRuns(const DemoSetup& setup, const std::filesystem::path& folder)
    : setup_(setup),
      before_removal_(folder / "before_removal.safetensors"),
      task_(demo_task(setup)),
      separate_(make_twin("separate", Layout::separate)),
      fused_(make_twin("fused", Layout::fused)),
      lives_(fused_.run->learner(), fixed_example(task_), setup.steps(),
             [this] { return fused_.pruner->timeline(); }) {
  transplant(separate(), fused());
  record_.title = "Written dates to ISO dates, in two layouts";
  record_.task = task_.name;
  record_.seed = setup.seed;
  record_.models = {"separate", "fused"};
  record_.measures = {{.key = "exact_match", .name = "exact match", .unit = "%", .goal = 0.99}};
  record_.parted_at = Divergence{.threshold = parted_threshold};
  record_.importance_name =
      fmt::format("{}, {}", demo_metric, head_metric(demo_metric).info.formula);
  record_.cost_name = std::string(removal_cost_in_words) + " (fused model)";
  for (const HeadId& head : live_heads(fused())) {
    record_.heads.push_back({.id = head});
  }
  record_.schedule = {{0, Index(record_.heads.size())}};
  record_.config = json_of(fused().config);
  record_.config.update(json_of(setup));
  record_.config.update(json_of(DemoSizes{.parameters = count_parameters(fused()),
                                          .train_examples = Index(task_.train.size()),
                                          .test_examples = Index(task_.test.size())}));
}

DemoRuns::Twin DemoRuns::make_twin(const char* name, Layout layout) {
  Twin twin{.name = name, .run = {}, .pruner = {}};
  twin.run = demo_run(setup_, task_, layout, layout == Layout::fused ? setup_.telemetry : 0);
  twin.pruner = std::make_unique<Pruner>(
      twin.run->optimizer(),
      PruningRecipe{.remove = setup_.remove,
                    .pace = Gradual{.from = setup_.learn_steps,
                                    .to = setup_.learn_steps + setup_.prune_steps,
                                    .every = 5}},
      [this](Index) { return choice_; });
  return twin;
}

// ---------------------------------------------------------------- equality at the start

StartDifference DemoRuns::same_function() {
  const Seq2SeqBatch batch = Seq2SeqLoader(task_, setup_.batch_size, setup_.seed).next();
  std::vector<Array> logits, sources, targets;
  for (const Twin* twin : both()) {
    Seq2Seq& model = seq2seq_of(*twin->run);
    Tensor source = model.embed_source(batch.source), target = model.embed_target(batch.target_in);
    source.retain_grad();
    target.retain_grad();
    const Tensor y =
        model.decode(target, model.encode(source, batch.source_lengths), batch.source_lengths);
    cross_entropy(y, batch.labels).backward();
    logits.push_back(y.value());
    sources.push_back(source.grad());
    targets.push_back(target.grad());
  }
  const Distance gradients = gradient_distance(separate(), fused());
  for (const Twin* twin : both()) zero_grad(twin->run->model());
  record_.separate_vs_fused =
      StartDifference{.forward = relative_difference(logits[0], logits[1]),
                      .parameter_gradient = gradients.largest,
                      .input_gradient = larger(relative_difference(sources[0], sources[1]),
                                               relative_difference(targets[0], targets[1])),
                      .tolerance = is_double ? 1e-12 : 2e-6};
  return *record_.separate_vs_fused;
}

// ---------------------------------------------------------------- training in lockstep

bool DemoRuns::learn(const OnStep& on_step) {
  if (!train_both(setup_.learn_steps, "learning", on_step)) return false;
  record_.before_after.push_back(score(fmt::format("after {} steps", setup_.learn_steps)));
  fused_.run->save(before_removal_);
  for (const Twin* twin : both()) twin->run->add("pruning", *twin->pruner);
  return true;
}

bool DemoRuns::train_both(Index steps, const char* phase, const OnStep& on_step) {
  const bool is_learning = steps_done() == 0;
  for (Index step = 1; step <= steps; ++step) {
    Progress progress{};
    std::vector<double> losses;
    for (const Twin* twin : both()) {
      StepReport report = twin->run->step();
      for (Record& line : report.lines) {
        line["model"] = twin->name;
        add_log_line(line, "the step's report", record_);
      }
      losses.push_back(report.loss);
      progress.loss = report.loss;
      progress.seconds += report.seconds;
      progress.tokens += report.tokens;
      progress.heads_alive = report.heads_alive;
    }
    note_removals();
    if (lives_.is_due(steps_done())) {
      record_.lives.push_back(lives_.line(steps_done()));
      record_.lives.back().model = fused_.name;
    }
    if (step % difference_every == 0 || step == 1) record_difference(steps_done());
    if (is_learning && sums_are_due(step, steps)) {
      record_.importance_sums.push_back(
          importance_sums(fused_.run->learner(), step, setup_.importance_examples));
    }
    progress.measured = step % setup_.measure_every == 0 || step == steps;
    if (progress.measured || step == 1) {
      for (std::size_t i = 0; i < losses.size(); ++i) {
        Twin& twin = *both()[i];
        twin.exact = twin.run->learner().evaluate()["exact_match"];
        record_.metrics.push_back({.step = steps_done(),
                                   .model = twin.name,
                                   .phase = phase,
                                   .numbers = {{"loss", losses[i]}, {"exact_match", twin.exact}}});
      }
    }
    progress.step = step;
    progress.steps = steps;
    progress.exact = std::min(separate_.exact, fused_.exact);
    if (!on_step(progress)) return false;
  }
  return true;
}

void DemoRuns::record_difference(Index step) {
  const Distance parameters = parameter_distance(separate(), fused());
  const Evaluating a(separate()), b(fused());
  const std::vector<Seq2SeqExample> pairs =
      first_answers({task_.validation.begin(), task_.validation.begin() + 16});
  std::vector<Index> all(pairs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Index(i);
  const Seq2SeqBatch batch = make_batch(pairs, all, task_.source, task_.target);
  const double forward =
      relative_difference(separate()(batch.source, batch.source_lengths, batch.target_in).value(),
                          fused()(batch.source, batch.source_lengths, batch.target_in).value());
  record_.differences.push_back({step, forward, parameters.largest, parameters.key_bias});
  std::optional<Index>& parted = record_.parted_at->step;
  if (!parted && parameters.largest > parted_threshold) parted = step;
}

ComparisonRow DemoRuns::score(const std::string& label) {
  std::vector<std::pair<std::string, double>> exact;
  for (const Twin* twin : both()) exact.emplace_back(twin->name, test_exact_match(*twin->run));
  return {.label = label,
          .steps = steps_done(),
          .heads = Index(live_heads(fused()).size()),
          .exact_match = std::move(exact),
          .parameters = double(count_parameters(fused()))};
}

// ---------------------------------------------------------------- attention maps

void DemoRuns::record_maps() {
  const Evaluating quiet(fused());
  record_.examples.clear();
  // Three sentences of different length, the year written in digits.
  for (const auto& [source, answers] : task_.test) {
    const std::string sentence = task_.source.decode(source),
                      date = task_.target.decode(answers[0]);
    const std::size_t length = sentence.size();
    const bool wanted = record_.examples.empty() ? length < 18 : length >= 18;
    if (!wanted || sentence.find(date.substr(0, 4)) == std::string::npos) continue;
    const std::vector<Seq2SeqExample> pair{{source, answers[0]}};
    const Seq2SeqBatch batch = make_batch(pair, {0}, task_.source, task_.target);
    HeadProbe probe;
    probe.maps = true;
    fused()(batch.source, batch.source_lengths, batch.target_in, &probe);
    ExampleRecord& example = record_.examples.emplace_back();
    example.source = tokens_of(task_.source, source);
    example.target = example.decoder_input = tokens_of(task_.target, answers[0]);
    // The token predicted at position i is the decoder's input at i + 1.
    example.decoder_input.insert(example.decoder_input.begin(), "^");
    example.target.push_back("$");
    example.maps = map_records(fused(), probe);
    if (record_.examples.size() == 3) break;
  }
}

DemoRuns::Reader DemoRuns::year_reader() const {
  const ExampleRecord& example = record_.examples.at(0);
  std::string sentence, year;
  for (const std::string& token : example.source) sentence += token;
  for (std::size_t i = 0; i < 4; ++i) year += example.target[i];
  const std::size_t place = sentence.find(year);
  Reader best;
  for (const MapRecord& map : example.maps) {
    if (map.id.kind != AttentionKind::cross) continue;
    double share = 0;  // mean over the year's digits of the weight on the year
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = place; j < place + 4; ++j) share += map.rows[i][j] / 4;
    }
    if (share > best.share) best = {map, share};
  }
  return best;
}

// ---------------------------------------------------------------- removing heads

void DemoRuns::choose_heads() {
  Learner& learner = fused_.run->learner();
  const ImportanceTable table = measure_importance(learner, {demo_other_metric, demo_metric},
                                                   {.examples = setup_.importance_examples});
  const HeadCosts costs = head_costs(learner, setup_.importance_examples);
  choice_.importance = table.importance(demo_metric);
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    choice_.cost.push_back({table.heads[i], costs.cost[i]});
    record_.heads[i].importance = choice_.importance[i].score;
    record_.heads[i].cost = costs.cost[i];
  }
  choice_.order =
      first_allowed(fused(), least_important_first(choice_.importance), setup_.remove, demo_budget);
  record_.cost_reliability = costs.reliability;
  for (const ImportanceTable::Column& column : table.columns) {
    record_.criteria.push_back({.name = column.info.name,
                                .formula = column.info.formula,
                                .chose = column.info.name == demo_metric,
                                .importance = column.scores});
  }
}

bool DemoRuns::remove_heads(const OnStep& on_step) {
  if (!train_both(setup_.prune_steps + setup_.recover_steps, "removing heads", on_step)) {
    return false;
  }
  record_.before_after.push_back(
      score(fmt::format("after {} steps, {} heads removed", setup_.steps(), setup_.remove)));
  return true;
}

/// Records the heads that this step removed, the same ones in both models.
void DemoRuns::note_removals() {
  const std::vector<HeadHistory>& heads = fused_.pruner->heads();
  bool any = false;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].removed_at != steps_done()) continue;
    record_.heads[i].removed_at = steps_done();
    any = true;
  }
  if (any) {
    record_.schedule.push_back({steps_done(), Index(live_heads(fused()).size())});
  }
}

// ---------------------------------------------------------------- the cost, and the comparison

void DemoRuns::measure_cost() {
  Rng rng(setup_.seed, "init");
  Seq2Seq full(fused().config, rng);
  const Seq2SeqBatch batch = Seq2SeqLoader(task_, setup_.batch_size, setup_.seed).next();
  const std::vector<Seq2Seq*> models{&full, &fused()};
  std::vector<OperationCost> costs;
  const auto attention_ms = [&] {
    costs = operation_costs(models, batch, "attention", 10);
    return std::vector<double>{costs[0].ms, costs[1].ms};
  };
  attention_ms();  // warms up, and counts the arithmetic
  const auto ceilings = [&](double OperationCost::*flops) {
    return std::vector<double>{1, costs[0].*flops / costs[1].*flops};
  };
  const std::vector<double> ms = measured_again([&] { return median_step_ms(models, batch, 25); },
                                                ceilings(&OperationCost::step_flops));
  measured_again(attention_ms, ceilings(&OperationCost::flops));
  for (std::size_t i = 0; i < models.size(); ++i) {
    ComparisonRow& row = record_.before_after.at(i);
    row.step_ms = ms[i];
    row.attention_ms = costs[i].ms;
    row.step_flops = costs[i].step_flops;
    row.attention_flops = costs[i].flops;
    row.memory_bytes = double(step_bytes(*models[i], batch));
  }
  step_ms_before_ = ms[0];
  step_ms_after_ = ms[1];
}

bool DemoRuns::train_arms(const CutRunner& run, int at_once,
                          const std::function<void(Index, Index)>& done) {
  Rng rng(setup_.seed, "init");
  Seq2Seq whole(fused().config, rng);
  const std::vector<DemoCut> cuts =
      demo_cuts(setup_, before_removal_, whole, choice_.order, choice_.cost);
  record_.arms =
      run_cuts(cuts, run, at_once, [&](Index finished) { done(finished, Index(cuts.size())); });
  if (!record_.arms) return false;
  record_.arms->test_examples = Index(task_.test.size());
  const ArmRecord whole_as_long = record_.arms->arms.front();
  record_.arms->arms.erase(record_.arms->arms.begin());
  std::vector<ComparisonRow>& rows = record_.before_after;
  ComparisonRow row = rows.at(0);  // a model of the same size and speed
  row.label = fmt::format("after {} steps, all heads", setup_.steps());
  row.steps = setup_.steps();
  row.exact_match =
      std::vector<std::pair<std::string, double>>{{"fused", whole_as_long.recovered.at(0)}};
  rows.insert(rows.begin() + 1, row);
  return true;
}

DemoSummary DemoRuns::summary() const {
  const std::vector<ComparisonRow>& rows = record_.before_after;
  const auto lower = [](const ComparisonRow& row) { return row.exact_match.range()->first; };
  const auto alive = [](const HeadRecord& head) { return !head.removed_at.has_value(); };
  return {.task = task_.name,
          .seed = setup_.seed,
          .heads_total = Index(record_.heads.size()),
          .heads_alive = std::count_if(record_.heads.begin(), record_.heads.end(), alive),
          .exact_match_before = lower(rows.front()),
          .exact_match_as_long = rows.at(1).exact_match.of("fused"),
          .exact_match_after = lower(rows.back()),
          .step_ms_before = step_ms_before_,
          .step_ms_after = step_ms_after_,
          .separate_vs_fused = record_.separate_vs_fused,
          .parted_at = record_.parted_at,
          .before_after = rows};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
