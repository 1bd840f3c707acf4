// Recipes, options and config.json of a training run.
#include "cli/train/train_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* default_task = "dates";

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
    s.optimizer.beta2 = 0.98;
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
    s.optimizer.weight_decay = 0.1;
    s.optimizer.beta2 = 0.99;
    s.evaluate_every = 250;
  }
  return s;
}

/// The settings of a task's recipe as help shows them, by their keys in config.json.
using Values = std::map<std::string, std::string>;

Values flattened(TrainingSettings settings) {
  Values values;
  settings.derive();
  settings.task = "";  // the only difference between two tasks must not be their name
  for (const Record& section : settings.to_record()) {
    for (const auto& [key, value] : section.items()) {
      values[key] = value.is_string()         ? value.get<std::string>()
                    : value.is_boolean()      ? (value.get<bool>() ? "yes" : "no")
                    : value.is_number_float() ? fmt::format("{:g}", value.get<double>())
                                              : value.dump();
    }
  }
  return values;
}

/// The recipes of all tasks.
struct Recipes {
  std::map<std::string, Values> of_task;
  std::vector<std::string> differing;  // keys whose values differ, in the order of config.json

  bool differ_in(const std::string& key) const {
    return std::find(differing.begin(), differing.end(), key) != differing.end();
  }
};

/// Made once: every call of the program asks for the default of every option.
const Recipes& recipes_of_tasks() {
  static const Recipes all = [] {
    Recipes made;
    for (const TaskInfo& info : task_list()) made.of_task[info.name] = flattened(recipe(info.name));
    const Values& first = made.of_task.at(default_task);
    for (const Record& section : recipe(default_task).to_record()) {
      for (const auto& [key, value] : section.items()) {
        const auto other = [&, &key = key](const auto& entry) {
          return first.contains(key) && entry.second.at(key) != first.at(key);
        };
        if (std::any_of(made.of_task.begin(), made.of_task.end(), other)) {
          made.differing.push_back(key);
        }
      }
    }
    return made;
  }();
  return all;
}

/// The name in help of a setting that no option changes: its key in words.
std::string setting_without_option(std::string key) {
  if (key == "final_rate") return "final learning rate";
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

}  // namespace

Record TrainSettings::to_record() const {
  Record record = run.to_record();
  branch.to_record(record["training"]);
  record["pruning"] = json_of(pruning);
  return record;
}

TrainSettings TrainSettings::from_record(const Record& record, const std::string& origin) {
  TrainSettings settings{TrainingSettings::from_record(record, origin), {}, {}};
  settings.branch = BranchSettings::from_record(record["training"], origin);
  try {
    if (!record.contains("pruning")) {
      throw DataError(origin +
                      ": \"pruning\" is missing: the run was made by another program than "
                      "`train`; resume it with that program");
    }
    settings.pruning = struct_of<PruningRecipe>(record["pruning"], origin + ": pruning");
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  return settings;
}

template <class T>
CLI::Option* TrainOptions::add(CLI::App& app, const std::string& name, std::optional<T>& value,
                               const std::string& help, const std::string& key) {
  CLI::Option* option = app.add_option(name, value, help);
  if (!key.empty()) {
    option_of_key_[key] = option->get_name();
    const Recipes& recipes = recipes_of_tasks();
    option->default_str(recipes.differ_in(key) ? "by task"
                                               : recipes.of_task.at(default_task).at(key));
  }
  added_.push_back(option);
  return option;
}

CLI::Option* TrainOptions::add_name(CLI::App& app, const std::string& name,
                                    std::optional<std::string>& value, const std::string& help,
                                    const std::string& key) {
  return add(app, name, value, help, key)->type_name("NAME");
}

void TrainOptions::add_to(CLI::App& app) {
  std::string tasks;
  for (const TaskInfo& info : task_list()) tasks += (tasks.empty() ? "" : ", ") + info.name;
  add_name(app, "--task", task_, "task to learn: " + tasks)->default_str(default_task);
  add(app, "--data", data_, "path of the data file (tasks g2p and text)")->type_name("FILE");
  add(app, "--validation", validation_,
      "examples to hold out for validation and for measuring heads (not g2p and text)");
  add(app, "--fold", fold_,
      "cross-validation: test on part K of N of the examples for training and test, and train on "
      "the others (not text)")
      ->type_name("K/N");
  add(app, "--seed", seed_, "seed of all random numbers", "seed");
  add(app, "--init", init_,
      "number of the draw of initial weights for this seed, from 0 (default: 0)");
  add(app, "--steps,--max-steps", steps_, "number of training steps", "steps");
  add_name(app, "--layout", layout_, "attention layout: " + layout_names(), "layout");
  add(app, "--width", width_, "width of the model, the embedding dimension", "width");
  add(app, "--heads", heads_, "heads per attention", "heads");
  add(app, "--head-dim", head_dim_, "width of a head (default: width / heads)");
  add(app, "--hidden", hidden_,
      "hidden width of the feed-forward layers; 4 x width if only --width is given", "hidden");
  add(app, "--layers", layers_, "layers per stack (encoder, decoder)", "layers");
  add_name(app, "--activation", activation_,
           "activation of the feed-forward layers: " + names_of<Activation>(), "activation");
  add_name(app, "--norm", norm_, "normalisation: " + names_of<NormKind>(), "norm");
  add_name(app, "--positions", positions_, "position encoding: " + names_of<PositionKind>(),
           "positions");
  added_.push_back(app.add_flag("--post-norm", post_norm_,
                                "normalise after each residual connection (default: before)"));
  add(app, "--dropout", dropout_, "dropout probability, at least 0 and below 1", "dropout");
  add(app, "--label-smoothing", label_smoothing_, "label smoothing, at least 0 and below 1",
      "label_smoothing");
  add(app, "--batch,--batch-size", batch_, "examples in a batch", "batch_size");
  add(app, "--length", length_, "tokens (characters) per training window (task text)", "length");
  add(app, "--learning-rate,--rate,--lr", rate_,
      "peak learning rate, above 0; the default is that of adamw, times 50 for sgd, 5 for lamb and "
      "10 for muon",
      "peak_rate");
  add_name(app, "--schedule", schedule_, "learning rate schedule: " + names_of<RateShape>(),
           "schedule");
  add(app, "--schedule-steps", schedule_steps_,
      "steps of the learning rate schedule (default: --steps)");
  add(app, "--warmup", warmup_, "warm-up steps; if only --steps is given, at most a tenth of it",
      "warmup");
  add(app, "--clip", clip_, "maximum gradient norm; 0 turns clipping off", "clip");
  add_name(app, "--optimizer", optimizer_, "optimizer: " + names_of<OptimizerKind>())
      ->default_str(name_of(OptimizerKind::adamw));
  add_name(app, "--granularity", granularity_,
           "blocks to which lamb and muon apply their rules: " + names_of<Granularity>())
      ->default_str(name_of(Granularity::tensor));
  add(app, "--weight-decay", weight_decay_, "weight decay, at least 0", "weight_decay");
  add(app, "--beta2", beta2_, "decay of the second moment, at least 0 and below 1 (adamw, lamb)",
      "beta2");
  add(app, "--evaluate-every", evaluate_every_, "steps between evaluations", "evaluate_every");
  add(app, "--save-every", save_every_, "steps between checkpoints (default: as --evaluate-every)");
  added_.push_back(
      app.add_option(
             "--snapshots", snapshots_,
             "steps, from 1 to --steps, after which a copy of the checkpoint is kept, separated by "
             "commas")
          ->type_name("N")
          ->delimiter(','));
  add(app, "--telemetry", telemetry_, "steps between measurements of every head; 0 turns them off",
      "telemetry");
  for (CLI::Option* option : prune_.add_to(app)) added_.push_back(option);
  for (CLI::Option* option : branch_.add_to(app)) added_.push_back(option);
  added_.push_back(
      app.add_flag("--skip-bad-lines", skip_bad_lines_, "skip malformed lines of the data file"));
  added_.push_back(app.add_flag("--stress", stress_, "learn stress marks, too (task g2p)"));
}

std::string TrainOptions::recipes() const {
  // Tasks with equal recipes share a column. That of the default task comes first.
  const Recipes& recipes = recipes_of_tasks();
  std::vector<std::pair<std::string, Values>> columns{
      {"other tasks", recipes.of_task.at(default_task)}};
  for (const TaskInfo& info : task_list()) {
    const Values& values = recipes.of_task.at(info.name);
    const auto same = std::find_if(columns.begin(), columns.end(),
                                   [&](const auto& column) { return column.second == values; });
    if (same == columns.end()) {
      columns.emplace_back(info.name, values);
    } else if (same != columns.begin()) {
      same->first += ", " + info.name;
    }
  }
  std::rotate(columns.begin(), columns.begin() + 1, columns.end());
  std::vector<std::vector<std::string>> rows(1, {"Defaults by task:"});
  for (const auto& [title, values] : columns) rows[0].push_back(title);
  for (const std::string& key : recipes.differing) {
    const auto option = option_of_key_.find(key);
    rows.push_back(
        {"  " + (option == option_of_key_.end() ? setting_without_option(key) : option->second)});
    for (const auto& [title, values] : columns) rows.back().push_back(values.at(key));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += text.empty() ? "" : "\n";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      text += last ? row[i] : before_column(row[i], i == 0 ? help_column : 13);
    }
  }
  return text;
}

std::string TrainOptions::first_given() const {
  for (const CLI::Option* option : added_) {
    if (option->count() > 0 && option->get_name() != "--data") return option->get_name();
  }
  return {};
}

TrainSettings TrainOptions::settings() const {
  TrainSettings all{recipe(task_.value_or(default_task)), {}, branch_.settings()};
  TrainingSettings& s = all.run;
  const auto set = [](const auto& given, auto& field) {
    if (given) field = static_cast<std::remove_reference_t<decltype(field)>>(*given);
  };
  BlockConfig& block = s.model.block;
  s.data.data = data_.value_or("");
  s.data.skip_bad_lines = skip_bad_lines_;
  s.data.stress = stress_;
  set(validation_, s.data.validation);
  if (fold_) s.fold = fold_from(*fold_, "--fold");
  require(seed_.value_or(1) >= 0, fmt::format("--seed {} is negative", seed_.value_or(1)));
  s.data.seed = static_cast<std::uint64_t>(seed_.value_or(1));
  if (layout_) block.layout = layout_from(*layout_, "--layout");
  if (activation_) block.activation = from_name<Activation>("--activation", *activation_);
  if (norm_) block.norm = from_name<NormKind>("--norm", *norm_);
  if (positions_) s.model.positions = from_name<PositionKind>("--positions", *positions_);
  if (schedule_) s.rate.shape = from_name<RateShape>("--schedule", *schedule_);
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
  if (optimizer_) s.optimizer.kind = from_name<OptimizerKind>("--optimizer", *optimizer_);
  if (granularity_) {
    s.optimizer.granularity = from_name<Granularity>("--granularity", *granularity_);
  }
  check(s.optimizer);
  s.rate.peak = usual_rate(s.optimizer.kind, s.rate.peak);
  set(rate_, s.rate.peak);
  set(warmup_, s.rate.warmup);
  set(clip_, s.clip);
  set(weight_decay_, s.optimizer.weight_decay);
  set(beta2_, s.optimizer.beta2);
  set(steps_, s.steps);
  set(init_, s.learner.init);
  set(evaluate_every_, s.evaluate_every);
  s.save_every = s.evaluate_every;
  set(save_every_, s.save_every);
  set(telemetry_, s.telemetry);
  s.snapshots = snapshots_;
  if (steps_ && !warmup_) s.rate.warmup = std::min(s.rate.warmup, s.steps / 10);
  s.derive();
  set(schedule_steps_, s.rate.steps);

  for (const auto& [name, value] : {std::pair("--steps", s.steps),
                                    {"--width", block.width},
                                    {"--heads", block.heads},
                                    {"--hidden", block.hidden},
                                    {"--layers", s.model.layers},
                                    {"--batch", s.learner.batch_size},
                                    {"--length", s.learner.length},
                                    {"--evaluate-every", s.evaluate_every},
                                    {"--save-every", s.save_every},
                                    {"--schedule-steps", s.rate.steps},
                                    {"--validation", validation_.value_or(1)}}) {
    require(value >= 1, fmt::format("{} {} is less than 1", name, value));
  }
  for (const Index step : s.snapshots) {
    require(step >= 1 && step <= s.steps,
            fmt::format("--snapshots {} must be a step from 1 to --steps {}", step, s.steps));
  }
  require(block.dropout >= 0 && block.dropout < 1,
          fmt::format("--dropout {} is not in [0, 1)", block.dropout));
  require(s.learner.label_smoothing >= 0 && s.learner.label_smoothing < 1,
          fmt::format("--label-smoothing {} is not in [0, 1)", s.learner.label_smoothing));
  require(s.optimizer.beta2 >= 0 && s.optimizer.beta2 < 1,
          fmt::format("--beta2 {} is not in [0, 1)", s.optimizer.beta2));
  require(s.rate.peak > 0 && std::isfinite(s.rate.peak),
          fmt::format("--learning-rate {} is not a positive number", s.rate.peak));
  for (const auto& [name, value] :
       {std::pair("--clip", s.clip), {"--weight-decay", s.optimizer.weight_decay}}) {
    require(value >= 0 && std::isfinite(value),
            fmt::format("{} {} is not a finite number from 0", name, value));
  }
  const bool falls = s.rate.shape == RateShape::cosine || s.rate.shape == RateShape::linear;
  require(s.rate.warmup + Index(falls) <= s.rate.steps,
          fmt::format("--warmup {} must be {} {} {}, so that the learning rate reaches its peak",
                      s.rate.warmup, falls ? "less than" : "at most",
                      schedule_steps_ ? "--schedule-steps" : "--steps", s.rate.steps));
  s.check_counts([this](const std::string& key) {
    const auto known = option_of_key_.find(key);
    std::string name = "--" + key;
    std::replace(name.begin(), name.end(), '_', '-');
    return known == option_of_key_.end() ? name : known->second;
  });
  for (const auto& [name, value] : {std::pair("--width", block.width),
                                    {"--heads", block.heads},
                                    {"--head-dim", block.head_dim},
                                    {"--hidden", block.hidden},
                                    {"--layers", s.model.layers}}) {
    require(value <= 10'000'000, fmt::format("{} {} is more than 10000000", name, value));
  }
  if (block.head_dim == 0) require_heads_divide(block.heads, block.width);
  all.pruning = prune_.recipe(s.steps);
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
