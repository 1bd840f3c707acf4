// The main job, part by part.
#include "headroom/heads/layout_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/heads/head_records.hpp"
#include "headroom/heads/transplant.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom/train/telemetry.hpp"

#include "heads/step_cost.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Parameters this far apart no longer share a path: a thousandth of the largest weight.
constexpr double parted_threshold = 1e-3;
/// Steps between two measurements of how far apart the layouts are.
constexpr Index difference_every = 5;

Seq2SeqTask dates(std::uint64_t seed) {
  TaskOptions options;
  options.seed = seed;
  return std::get<Seq2SeqTask>(make_task("dates", options));
}

std::unique_ptr<Seq2Seq> make_contestant(const LayoutComparisonOptions& options,
                                         const Seq2SeqTask& task, Layout layout, Rng rng) {
  ModelConfig config;
  config.block.width = options.width;
  config.block.heads = options.heads;
  config.block.hidden = options.hidden;
  config.block.layout = layout;
  config.layers = options.layers;
  config.source_symbols = task.source.size();
  config.target_symbols = task.target.size();
  config.longest = std::max(task.longest_source(), task.longest_target()) + 8;
  return std::make_unique<Seq2Seq>(config, rng);
}

std::vector<std::string> symbols_of(const Vocabulary& vocabulary, const Tokens& tokens) {
  std::vector<std::string> symbols;
  for (const std::int32_t token : tokens) symbols.push_back(vocabulary.symbol(token));
  return symbols;
}

Tensor summed_loss(const Seq2Seq& model, const Seq2SeqBatch& batch, HeadProbe& probe) {
  return cross_entropy(model(batch.source, batch.source_lengths, batch.target_in, &probe),
                       batch.labels, {.reduction = Reduction::sum});
}

bool is_head(const Record& record, const HeadId& head) {
  return record["kind"] == name_of(head.kind) && record["layer"] == head.layer &&
         record["head"] == head.head;
}

}  // namespace

LayoutComparison::LayoutComparison(const LayoutComparisonOptions& options)
    : options_(options),
      task_(dates(options.seed)),
      separate_{"separate",
                make_contestant(options, task_, Layout::separate, Rng(options.seed, "init")),
                {}},
      fused_{"fused",
             make_contestant(options, task_, Layout::fused, Rng(options.seed + 1, "init")),
             {}} {
  transplant(separate(), fused());
  for (Contestant* c : {&separate_, &fused_})
    c->optimizer =
        std::make_unique<AdamW>(*c->model, AdamOptions{.beta2 = 0.98, .weight_decay = 0.01});
  records_["title"] = "Written dates to ISO dates, in two layouts";
  records_["task"] = task_.name;
  records_["seed"] = options.seed;
  records_["models"] = {"separate", "fused"};
  records_["measures"] = {{{"key", "exact_match"},
                           {"name", "exact match"},
                           {"unit", "%"},
                           {"better", "higher"},
                           {"goal", 0.99}}};
  records_["metrics"] = Record::array();
  records_["differences"] = Record::array();
  records_["parted_at"] = {{"step", nullptr}, {"threshold", parted_threshold}};
  records_["importance_name"] = "sensitivity, E |dL/dgate|";
  records_["cost_name"] = std::string(RemovalCost::in_words) + " (fused model)";
  records_["heads"] = Record::array();
  for (const HeadId& head : live_heads(fused())) {
    records_["heads"].push_back(head_record(head));
    records_["heads"].back()["removed_at"] = nullptr;
  }
  records_["schedule"] = {{{"step", 0}, {"alive", records_["heads"].size()}}};
  records_["before_after"] = Record::array();
  records_["config"] = fused().config.to_record();
  records_["config"].update(Record{{"batch_size", options.batch_size},
                                   {"peak_rate", options.rate},
                                   {"learn_steps", options.learn_steps},
                                   {"prune_steps", options.prune_steps},
                                   {"recover_steps", options.recover_steps},
                                   {"heads_removed", options.remove},
                                   {"telemetry", options.telemetry},
                                   {"parameters", count_parameters(fused())},
                                   {"train_examples", task_.train.size()},
                                   {"test_examples", task_.test.size()}});
}

// ---------------------------------------------------------------- the same function?

Record LayoutComparison::same_function() {
  const Seq2SeqBatch batch = Seq2SeqLoader(task_, options_.batch_size, options_.seed).next();
  std::vector<Array> logits, sources, targets;
  for (Contestant* c : {&separate_, &fused_}) {
    Seq2Seq& model = *c->model;
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
  for (Contestant* c : {&separate_, &fused_}) zero_grad(*c->model);
  Record record;
  record["forward"] = relative_difference(logits[0], logits[1]);
  record["parameter_gradient"] = gradients.largest;
  record["input_gradient"] = larger(relative_difference(sources[0], sources[1]),
                                    relative_difference(targets[0], targets[1]));
  record["tolerance"] = is_double ? 1e-12 : 2e-6;
  records_["separate_vs_fused"] = record;
  return record;
}

// ---------------------------------------------------------------- training in lockstep

bool LayoutComparison::learn(const OnStep& on_step) {
  const RateSchedule rate(RateOptions{.shape = RateShape::cosine,
                                      .peak = options_.rate,
                                      .warmup = std::min<Index>(50, options_.learn_steps / 10),
                                      .steps = options_.learn_steps,
                                      .floor = options_.rate / 20});
  if (!train("learning", options_.learn_steps, rate, nullptr, on_step)) return false;
  records_["before_after"].push_back(score_both("before"));
  return true;
}

bool LayoutComparison::train(const char* phase, Index steps, const RateSchedule& rate,
                             const PruningPlan* plan, const OnStep& on_step) {
  std::array<Trainer, 2> trainers{Trainer(*separate_.optimizer, rate, {.seed = options_.seed}),
                                  Trainer(*fused_.optimizer, rate, {.seed = options_.seed})};
  HeadTelemetry telemetry(fused(), options_.telemetry);
  trainers[1].add(telemetry);
  // A part of its own starts the data anew, in an order of its own.
  Seq2SeqLoader loader(task_, options_.batch_size,
                       options_.seed + static_cast<std::uint64_t>(steps_done_));
  for (Index step = 1; step <= steps; ++step) {
    const Seq2SeqBatch batch = loader.next();
    std::array<double, 2> losses{};
    Progress progress{};
    std::size_t i = 0;
    for (Contestant* c : {&separate_, &fused_}) {
      StepReport report = trainers[i].step(
          [&](HeadProbe* probe) { return training_loss(*c->model, batch, 0, probe); },
          label_count(batch));
      if (!report.telemetry.is_null()) {
        report.telemetry["step"] = steps_done_ + 1;  // the trainer counts those of this part
        report.telemetry["model"] = c->name;
        records_["telemetry"].push_back(std::move(report.telemetry));
      }
      losses[i++] = report.loss;
      progress.seconds += report.seconds;
      progress.tokens += report.tokens;
    }
    ++steps_done_;
    if (plan != nullptr) {
      const std::vector<HeadId> gone = plan->due(step, live_heads(fused()));
      for (Contestant* c : {&separate_, &fused_}) c->optimizer->apply(prune(*c->model, gone));
      for (Record& record : records_["heads"]) {
        const bool now = std::any_of(gone.begin(), gone.end(),
                                     [&](const HeadId& head) { return is_head(record, head); });
        if (now) record["removed_at"] = steps_done_;
      }
      if (!gone.empty()) {
        records_["schedule"].push_back(
            {{"step", steps_done_}, {"alive", live_heads(fused()).size()}});
      }
    }
    if (step % difference_every == 0 || step == 1) record_difference(steps_done_);
    progress.measured = step % options_.measure_every == 0 || step == steps;
    if (progress.measured || step == 1) measure(steps_done_, phase, losses.data());
    progress.step = step;
    progress.steps = steps;
    progress.loss = losses[1];
    progress.heads_alive = static_cast<Index>(live_heads(fused()).size());
    progress.exact_separate = separate_.exact;
    progress.exact_fused = fused_.exact;
    if (!on_step(progress)) return false;
  }
  return true;
}

void LayoutComparison::measure(Index step, const char* phase, const double* losses) {
  for (Contestant* c : {&separate_, &fused_}) {
    const auto sample =
        std::span(task_.validation).first(std::min<std::size_t>(200, task_.validation.size()));
    c->exact = score_greedily(*c->model, sample, task_.source, task_.target).exact_match();
    records_["metrics"].push_back({{"step", step},
                                   {"model", c->name},
                                   {"phase", phase},
                                   {"loss", *losses++},
                                   {"exact_match", c->exact}});
  }
}

void LayoutComparison::record_difference(Index step) {
  const Distance parameters = parameter_distance(separate(), fused());
  const Evaluating a(separate()), b(fused());
  const std::vector<Seq2SeqExample> pairs =
      first_answers({task_.validation.begin(), task_.validation.begin() + 16});
  std::vector<Index> all(pairs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  const Seq2SeqBatch batch = make_batch(pairs, all, task_.source, task_.target);
  const double forward =
      relative_difference(separate()(batch.source, batch.source_lengths, batch.target_in).value(),
                          fused()(batch.source, batch.source_lengths, batch.target_in).value());
  records_["differences"].push_back({{"step", step},
                                     {"forward", forward},
                                     {"parameter", parameters.largest},
                                     {"key_bias", parameters.key_bias}});
  Record& parted = records_["parted_at"]["step"];
  if (parted.is_null() && parameters.largest > parted_threshold) parted = step;
}

Record LayoutComparison::score_both(const char* label) {
  Record record{{"label", label}, {"exact_match", Record::object()}};
  for (Contestant* c : {&separate_, &fused_}) {
    record["exact_match"][c->name] =
        score_greedily(*c->model, task_.test, task_.source, task_.target).exact_match();
  }
  record["parameters"] = count_parameters(fused());
  return record;
}

// ---------------------------------------------------------------- looking

void LayoutComparison::look() {
  const Evaluating quiet(fused());
  records_["examples"] = Record::array();
  // Three sentences of different length, the year written in digits.
  for (const auto& [source, answers] : task_.test) {
    const std::string sentence = task_.source.decode(source),
                      date = task_.target.decode(answers[0]);
    const std::size_t length = sentence.size();
    const bool wanted = records_["examples"].size() == 0 ? length < 18 : length >= 18;
    if (!wanted || sentence.find(date.substr(0, 4)) == std::string::npos) continue;
    const std::vector<Seq2SeqExample> pair{{source, answers[0]}};
    const Seq2SeqBatch batch = make_batch(pair, {0}, task_.source, task_.target);
    HeadProbe probe;
    probe.maps = true;
    fused()(batch.source, batch.source_lengths, batch.target_in, &probe);
    Record example;
    example["source"] = symbols_of(task_.source, source);
    example["target"] = symbols_of(task_.target, answers[0]);
    example["decoder_input"] = symbols_of(task_.target, answers[0]);
    // What is written at position i was read as input at i + 1.
    example["decoder_input"].insert(example["decoder_input"].begin(), "^");
    example["target"].push_back("$");
    example["maps"] = map_records(fused(), probe);
    records_["examples"].push_back(example);
    if (records_["examples"].size() == 3) break;
  }
}

Record LayoutComparison::year_reader() const {
  const Record& example = records_.at("examples").at(0);
  std::string sentence, year;
  for (const Record& symbol : example["source"]) sentence += symbol.get<std::string>();
  for (std::size_t i = 0; i < 4; ++i) year += example["target"][i].get<std::string>();
  const std::size_t place = sentence.find(year);
  Record best{{"layer", 0}, {"head", 0}, {"share", 0.0}, {"example", 0}};
  for (const Record& map : example["maps"]) {
    if (map["kind"] != "cross") continue;
    double share = 0;  // mean over the year's digits of the weight on the year
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = place; j < place + 4; ++j) share += map["rows"][i][j].get<double>() / 4;
    }
    if (share > best["share"]) {
      best["layer"] = map["layer"];
      best["head"] = map["head"];
      best["share"] = share;
    }
  }
  return best;
}

// ---------------------------------------------------------------- removing heads

std::vector<HeadScore> LayoutComparison::sensitivity_of(Contestant& contestant) {
  Sensitivity sensitivity(*contestant.model);
  const std::vector<Seq2SeqExample> pairs = first_answers(task_.validation);
  for (const Seq2SeqBatch& batch : evaluation_batches(pairs, 64, task_.source, task_.target)) {
    sensitivity.add(batch.source.dim(0),
                    [&](HeadProbe& probe) { return summed_loss(*contestant.model, batch, probe); });
  }
  return sensitivity.scores();
}

std::vector<HeadScore> LayoutComparison::removal_costs() {
  RemovalCost cost(fused());
  std::vector<Seq2SeqExample> pairs = first_answers(task_.validation);
  pairs.resize(std::min<std::size_t>(256, pairs.size()));  // a pass for each head takes its time
  for (const Seq2SeqBatch& batch : evaluation_batches(pairs, 64, task_.source, task_.target)) {
    cost.add(batch.source.dim(0),
             [&](HeadProbe& probe) { return summed_loss(fused(), batch, probe); });
  }
  return cost.scores();
}

bool LayoutComparison::remove_heads(const OnStep& on_step) {
  const std::vector<HeadScore> of_separate = sensitivity_of(separate_);
  const std::vector<HeadScore> of_fused = sensitivity_of(fused_);
  const std::vector<HeadScore> costs = removal_costs();
  for (std::size_t i = 0; i < of_fused.size(); ++i) {
    records_["heads"][i]["importance"] = {{"separate", of_separate[i].score},
                                          {"fused", of_fused[i].score}};
    records_["heads"][i]["cost"] = costs[i].score;
  }
  const PruningPlan plan{
      .schedule = {.begin = 0, .end = options_.prune_steps, .every = 5, .total = options_.remove},
      .order = choose(least_important_first(added(of_separate, of_fused)), options_.remove, 0)};
  const Index steps = options_.prune_steps + options_.recover_steps;
  const RateSchedule rate(RateOptions{.shape = RateShape::linear,
                                      .peak = options_.rate / 2,
                                      .warmup = std::min<Index>(10, steps / 10),
                                      .steps = steps,
                                      .floor = options_.rate / 100});
  if (!train("removing heads", steps, rate, &plan, on_step)) return false;
  records_["before_after"].push_back(score_both("after"));
  return true;
}

// ---------------------------------------------------------------- what it costs

void LayoutComparison::measure_cost() {
  const auto full = make_contestant(options_, task_, Layout::fused, Rng(options_.seed, "init"));
  const Seq2SeqBatch batch = Seq2SeqLoader(task_, options_.batch_size, options_.seed).next();
  const std::vector<double> ms = median_step_ms({full.get(), fused_.model.get()}, batch, 25);
  std::size_t i = 0;
  for (Seq2Seq* model : {full.get(), fused_.model.get()}) {
    Record& record = records_["before_after"].at(i);
    record["step_ms"] = ms[i];
    record["attention_ms"] = operation_ms(*model, batch, "attention", 10);
    record["memory_bytes"] = step_bytes(*model, batch);
    ++i;
  }
  step_ms_before_ = ms[0];
  step_ms_after_ = ms[1];
}

Record LayoutComparison::summary() const {
  const Record& rows = records_.at("before_after");
  const auto lower = [&](std::size_t row) {
    const Record& exact = rows.at(row).at("exact_match");
    return std::min(exact.at("separate").get<double>(), exact.at("fused").get<double>());
  };
  const Record& heads = records_.at("heads");
  return {{"task", task_.name},
          {"seed", options_.seed},
          {"heads_total", heads.size()},
          {"heads_alive", std::count_if(heads.begin(), heads.end(),
                                        [](const Record& h) { return h["removed_at"].is_null(); })},
          {"exact_match_before", lower(0)},
          {"exact_match_after", lower(1)},
          {"step_ms_before", step_ms_before_},
          {"step_ms_after", step_ms_after_},
          {"separate_vs_fused", records_.at("separate_vs_fused")},
          {"parted_at", records_.at("parted_at")},
          {"before_after", rows}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
