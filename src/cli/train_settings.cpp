// Recipes, options and config.json of a training run.
#include "cli/train_settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Settings that work well for a task, so that only its name needs to be given.
TrainingSettings recipe(const std::string& task) {
  TrainingSettings s;
  s.task = task;
  BlockConfig& block = s.model.block;
  block.width = 64;
  block.heads = 4;
  block.hidden = 256;
  s.model.layers = 2;
  s.learner.batch_size = 64;
  s.steps = 1000;
  s.rate = {.shape = RateShape::cosine, .peak = 2e-3, .warmup = 50};
  s.evaluate_every = 100;
  if (task == "g2p") {
    block.width = 128;
    block.hidden = 512;
    block.dropout = Real(0.1);
    s.learner.batch_size = 256;
    s.learner.label_smoothing = Real(0.1);
    s.steps = 7000;
    s.rate = {.shape = RateShape::linear, .peak = 3e-3, .warmup = 400};
    s.beta2 = 0.98;
    s.evaluate_every = 500;
  } else if (task == "text") {  // nanoGPT's recipe for a CPU
    block.width = 128;
    block.hidden = 512;
    block.activation = Activation::gelu;
    s.model.layers = 4;
    s.model.positions = PositionKind::learned;
    s.model.tied_output = true;
    s.learner.batch_size = 12;
    s.learner.length = 64;
    s.steps = 2000;
    s.rate = {.shape = RateShape::cosine, .peak = 1e-3, .warmup = 100, .floor = 1e-4};
    s.weight_decay = 0.1;
    s.beta2 = 0.99;
    s.evaluate_every = 250;
  }
  return s;
}

/// Calls visit(key, reference) for every field, so that both directions share one list.
template <class Settings, class Visit>
void fields(Settings& s, Visit visit) {
  visit("prune", s.prune);
  visit("prune_from", s.prune_from);
  visit("prune_over", s.prune_over);
  visit("keep", s.keep);
}

void require(bool right, const std::string& text) {
  if (!right) throw UsageError(text);
}

}  // namespace

PrunerOptions PruneSettings::options() const {
  if (prune == 0) return {};
  return {.schedule = {.begin = prune_from,
                       .end = prune_from + prune_over,
                       .every = std::max<Index>(1, prune_over / 20),
                       .total = prune},
          .keep = keep};
}

Record TrainSettings::to_record() const {
  Record record = run.to_record();
  fields(pruning, [&](const char* key, Index value) { record["training"][key] = value; });
  return record;
}

TrainSettings TrainSettings::from_record(const Record& record, const std::string& origin) {
  TrainSettings s{TrainingSettings::from_record(record, origin), {}};
  fields(s.pruning, [&](const char* key, Index& value) {
    value = json_integer(record["training"], key, origin);
  });
  return s;
}

template <class T>
void TrainOptions::add(CLI::App& app, const std::string& name, std::optional<T>& value,
                       const std::string& help) {
  added_.push_back(app.add_option(name, value, help));
}

void TrainOptions::add_to(CLI::App& app) {
  std::string tasks;
  for (const TaskInfo& info : task_list()) tasks += (tasks.empty() ? "" : ", ") + info.name;
  add(app, "--task", task_, "what to learn: " + tasks + " (default: dates)");
  add(app, "--data", data_, "PATH of the data, for g2p and text");
  add(app, "--seed", seed_, "of everything random (default: 1)");
  add(app, "--steps", steps_, "training steps");
  add(app, "--layout", layout_, fmt::format("of the heads: {} (default: fused)", layout_names()));
  add(app, "--width", width_, "of the model");
  add(app, "--heads", heads_, "of each attention");
  add(app, "--head-dim", head_dim_, "width of a head (default: width / heads)");
  add(app, "--hidden", hidden_, "width inside the feed-forward layers");
  add(app, "--layers", layers_, "of each stack");
  add(app, "--activation", activation_, names_of<Activation>());
  add(app, "--norm", norm_, names_of<NormKind>());
  add(app, "--positions", positions_, names_of<PositionKind>());
  added_.push_back(app.add_flag("--post-norm", post_norm_, "norms after the residuals"));
  add(app, "--dropout", dropout_, "probability");
  add(app, "--label-smoothing", label_smoothing_, "share of the target given to all symbols");
  add(app, "--batch", batch_, "examples in a batch");
  add(app, "--length", length_, "characters in a window of text");
  add(app, "--rate", rate_, "peak of the learning rate");
  add(app, "--schedule", schedule_, "of the rate: " + names_of<RateShape>());
  add(app, "--warmup", warmup_, "steps in which the rate rises");
  add(app, "--clip", clip_, "limit of the gradient's norm; 0: none");
  add(app, "--weight-decay", weight_decay_, "of AdamW");
  add(app, "--beta2", beta2_, "of AdamW");
  add(app, "--evaluate-every", evaluate_every_, "steps between evaluations");
  add(app, "--save-every", save_every_, "steps between checkpoints (default: at evaluations)");
  add(app, "--telemetry", telemetry_,
      "steps from one measurement of every head to the next, 0: none (default: 10)");
  add(app, "--prune", prune_, "heads to remove while training, least sensitive first");
  add(app, "--prune-from", prune_from_,
      "step at which the heads are chosen (default: half of all)");
  add(app, "--prune-over", prune_over_, "steps until the last one is gone (default: a quarter)");
  add(app, "--keep", keep_, "heads that every attention keeps (default: 0)");
  added_.push_back(app.add_flag("--skip-bad-lines", skip_bad_lines_, "leave malformed lines out"));
  added_.push_back(app.add_flag("--stress", stress_, "g2p: learn stress marks too"));
}

std::string TrainOptions::recipes() {
  std::string text = "What is not given comes from the task's recipe:";
  for (const TaskInfo& info : task_list()) {
    const TrainingSettings s = recipe(info.name);
    const BlockConfig& block = s.model.block;
    text += fmt::format(
        "\n  {:9} {} steps of {}, {} layers of width {}, {} heads, hidden {}, dropout {:g}, "
        "rate {:g} ({}, warm-up {})",
        info.name, s.steps, s.learner.batch_size, s.model.layers, block.width, block.heads,
        block.hidden, block.dropout, s.rate.peak, name_of(s.rate.shape), s.rate.warmup);
  }
  return text;
}

std::string TrainOptions::first_given() const {
  for (const CLI::Option* option : added_) {
    if (option->count() > 0) return option->get_name();
  }
  return {};
}

TrainSettings TrainOptions::settings() const {
  TrainSettings all{recipe(task_.value_or("dates")), {}};
  TrainingSettings& s = all.run;
  PruneSettings& pruning = all.pruning;
  const auto set = [](const auto& given, auto& field) {
    if (given) field = static_cast<std::remove_reference_t<decltype(field)>>(*given);
  };
  BlockConfig& block = s.model.block;
  s.data.data = data_.value_or("");
  s.data.skip_bad_lines = skip_bad_lines_;
  s.data.stress = stress_;
  require(seed_.value_or(1) >= 0, fmt::format("--seed {} is negative", seed_.value_or(1)));
  s.data.seed = static_cast<std::uint64_t>(seed_.value_or(1));
  if (layout_) block.layout = layout_from(*layout_);
  if (activation_) block.activation = from_name<Activation>("activation", *activation_);
  if (norm_) block.norm = from_name<NormKind>("norm", *norm_);
  if (positions_) s.model.positions = from_name<PositionKind>("positions", *positions_);
  if (schedule_) s.rate.shape = from_name<RateShape>("schedule", *schedule_);
  if (post_norm_) block.norm_first = false;
  if (width_ && !hidden_) block.hidden = 4 * *width_;
  set(width_, block.width);
  set(heads_, block.heads);
  set(head_dim_, block.head_dim);
  set(hidden_, block.hidden);
  set(layers_, s.model.layers);
  set(dropout_, block.dropout);
  set(label_smoothing_, s.learner.label_smoothing);
  set(batch_, s.learner.batch_size);
  set(length_, s.learner.length);
  set(rate_, s.rate.peak);
  set(warmup_, s.rate.warmup);
  set(clip_, s.clip);
  set(weight_decay_, s.weight_decay);
  set(beta2_, s.beta2);
  set(steps_, s.steps);
  set(evaluate_every_, s.evaluate_every);
  s.save_every = s.evaluate_every;
  set(save_every_, s.save_every);
  set(telemetry_, s.telemetry);
  set(prune_, pruning.prune);
  pruning.prune_from = s.steps / 2;
  pruning.prune_over = s.steps / 4;
  set(prune_from_, pruning.prune_from);
  set(prune_over_, pruning.prune_over);
  set(keep_, pruning.keep);
  if (steps_ && !warmup_) s.rate.warmup = std::min(s.rate.warmup, s.steps / 10);
  s.derive();

  for (const auto& [name, value] : {std::pair("--steps", s.steps),
                                    {"--width", block.width},
                                    {"--heads", block.heads},
                                    {"--hidden", block.hidden},
                                    {"--layers", s.model.layers},
                                    {"--batch", s.learner.batch_size},
                                    {"--length", s.learner.length},
                                    {"--evaluate-every", s.evaluate_every},
                                    {"--save-every", s.save_every}}) {
    require(value >= 1, fmt::format("{} {} is less than 1", name, value));
  }
  require(block.dropout >= 0 && block.dropout < 1,
          fmt::format("--dropout {} is not in [0, 1)", block.dropout));
  require(s.learner.label_smoothing >= 0 && s.learner.label_smoothing < 1,
          fmt::format("--label-smoothing {} is not in [0, 1)", s.learner.label_smoothing));
  require(s.beta2 >= 0 && s.beta2 < 1, fmt::format("--beta2 {} is not in [0, 1)", s.beta2));
  require(s.rate.peak > 0 && std::isfinite(s.rate.peak),
          fmt::format("--rate {} is not a positive number", s.rate.peak));
  require(s.clip >= 0, fmt::format("--clip {} is negative", s.clip));
  require(s.weight_decay >= 0, fmt::format("--weight-decay {} is negative", s.weight_decay));
  require(s.telemetry >= 0, fmt::format("--telemetry {} is negative", s.telemetry));
  require(pruning.prune >= 0, fmt::format("--prune {} is negative", pruning.prune));
  require(pruning.prune == 0 || (pruning.prune_from >= 1 && pruning.prune_over >= 1 &&
                                 pruning.prune_from + pruning.prune_over <= s.steps),
          fmt::format("--prune-from {} and --prune-over {} do not fit into --steps {}",
                      pruning.prune_from, pruning.prune_over, s.steps));
  if (block.head_dim == 0) require_heads_divide(block.heads, block.width);
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
