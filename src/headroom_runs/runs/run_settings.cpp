// Settings from what is given, and to and from config.json.
#include "headroom_runs/runs/run_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/require.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "runs/given.hpp"
#include "runs/setting_values.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// Throws UsageError if the number is one that the setting cannot have.
void check(const Setting& setting, const Record& value, const std::string& shown) {
  if (!setting.fault || !value.is_number()) return;
  const std::string fault = setting.fault(value.get<double>());
  if (fault.empty()) return;
  throw UsageError(fmt::format(
      "{} {} {}", shown,
      value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump(), fault));
}

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// The section and the key of a setting in config.json; empty if it has no place there.
std::pair<std::string, std::string> place_of(const Setting& setting) {
  const std::size_t point = setting.path.find('.');
  if (point == std::string::npos) return {};
  return {setting.path.substr(0, point), setting.path.substr(point + 1)};
}

/// Calls visit(setting, section, key) for all settings of data and training. The model's sizes
/// (ModelConfig) and the removal (PruningRecipe) are in config.json as checkpoints have them.
template <class Visit>
void each_in_config(Visit visit) {
  for (const Setting& setting : all_settings()) {
    const auto [section, key] = place_of(setting);
    if (section == "task" || section == "training") visit(setting, section, key);
  }
}

}  // namespace

std::string option_text(const std::string& name) { return "--" + dashed(name); }
std::string quoted_name(const std::string& name) { return "\"" + name + "\""; }

const Setting* find_setting(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Setting& setting : all_settings()) {
    const std::vector<std::string>& more = setting.synonyms;
    if (setting.name == name || std::find(more.begin(), more.end(), name) != more.end()) {
      return &setting;
    }
  }
  return nullptr;
}

std::string help_of(const Setting& setting, const SettingNames& shown) {
  std::string text = setting.help;
  for (std::size_t open; (open = text.find('{')) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    text.replace(open, close + 1 - open, shown(text.substr(open + 1, close - open - 1)));
  }
  return text;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) {
    if (setting.is_option) names.push_back(dashed(setting.name));
  }
  return names;
}

RunSettings usual_settings(const std::string& task) {
  RunSettings settings;
  TrainingSettings& s = settings.training;
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
  s.save_every = s.evaluate_every;
  s.derive();
  return settings;
}

void require_heads_divide(Index heads, Index width, const SettingNames& shown) {
  if (width % heads == 0) return;
  Index fewer = heads, more = heads;
  while (width % fewer != 0) --fewer;
  while (more < width && width % more != 0) ++more;
  throw UsageError(fmt::format(
      "{} {} must divide {} {} (try {})", shown("heads"), heads, shown("width"), width,
      width % more == 0 ? fmt::format("{} or {}", fewer, more) : fmt::format("{}", fewer)));
}

RunSettings settings_of(const GivenSettings& all_given, const SettingNames& shown,
                        std::optional<RunSettings> base) {
  GivenSettings values;
  for (const auto& [name, value] : all_given) {
    const Setting* const setting = find_setting(name);
    if (setting == nullptr) {
      throw UsageError(fmt::format("{} is not a setting{}", printable(shown(name)),
                                   did_you_mean(dashed(name), option_names())));
    }
    check(*setting, value, shown(name));
    values[setting->name] = value;
  }
  const Given given(values, shown);
  RunSettings all = base ? *std::move(base)
                         : usual_settings(given.text("task").value_or(TrainingSettings().task));
  TrainingSettings& s = all.training;
  const double usual_peak = s.rate.peak;
  BlockConfig& block = s.model.block;
  const bool own_schedule = s.rate.steps != s.steps, own_saves = s.save_every != s.evaluate_every;
  for (const Setting& setting : all_settings()) {
    const auto found = values.find(setting.name);
    if (found == values.end() || !setting.set) continue;
    const bool off = setting.turns_off && found->second.is_boolean();
    setting.set(all, off ? Record(!found->second.get<bool>()) : found->second, shown(setting.name));
    const std::vector<std::string>& tasks = setting.tasks;
    require(tasks.empty() || std::find(tasks.begin(), tasks.end(), s.task) != tasks.end(),
            fmt::format("{} needs {} {}, not {}", shown(setting.name), shown("task"),
                        alternatives(tasks), s.task));
  }
  for (std::filesystem::path* file : {&s.table.validation, &s.table.test}) {
    require(*file != "-",
            fmt::format("only {} reads standard input; name a file instead of -", shown("data")));
    if (!file->empty()) *file = std::filesystem::absolute(*file).lexically_normal();
  }

  if (given.has("width") && !given.has("hidden")) block.hidden = 4 * block.width;
  headroom::check(s.optimizer);
  headroom::check(s.parts, shown("freeze"), shown("part_rates"));
  if (given.has("optimizer") && !given.has("learning_rate")) {
    s.rate.peak =
        usual_rate(s.optimizer.kind,
                   s.folder.empty() ? usual_settings(s.task).training.rate.peak : usual_peak);
  }
  if (!given.has("save_every") && !own_saves) s.save_every = s.evaluate_every;
  if (given.has("steps") && !given.has("warmup")) {
    s.rate.warmup = std::min(s.rate.warmup, s.steps / 10);
  }
  const Index schedule = s.rate.steps;
  s.derive();
  if (given.has("schedule_steps") || own_schedule) s.rate.steps = schedule;

  for (const Index step : s.snapshots) {
    require(step >= 1 && step <= s.steps,
            fmt::format("{} {} must be a step from 1 to {} {}", shown("snapshots"), step,
                        shown("steps"), s.steps));
  }
  const bool falls = s.rate.shape == RateShape::cosine || s.rate.shape == RateShape::linear;
  require(
      s.rate.warmup + Index(falls) <= s.rate.steps,
      fmt::format("{} {} must be {} {} {}, so that the learning rate reaches its peak",
                  shown("warmup"), s.rate.warmup, falls ? "less than" : "at most",
                  shown(given.has("schedule_steps") ? "schedule_steps" : "steps"), s.rate.steps));
  if (block.head_dim == 0) require_heads_divide(block.heads, block.width, shown);
  all.pruning = removal_of(given, std::move(all.pruning), s.steps);
  for (std::string* const other : {&all.branch.from, &all.branch.branch}) {
    if (!other->empty()) *other = std::filesystem::absolute(*other).lexically_normal().string();
  }
  require(all.branch.from.empty() || all.branch.branch.empty(),
          fmt::format("{} and {} cannot be combined", shown("from"), shown("branch")));
  require(!given.has("moments") || !all.branch.from.empty(),
          fmt::format("{} needs {}", shown("moments"), shown("from")));
  require(!all.pruning.gates || s.learner.accumulate == 1,
          fmt::format("{} and {} cannot be combined: gates are drawn once for a step",
                      shown("gates"), shown("accumulate")));
  return all;
}

Record RunSettings::to_record() const {
  Record record = {{"task", Record::object()},
                   {"model", training.model.to_record()},
                   {"training", Record::object()}};
  RunSettings usual;
  usual.training.steps = training.steps;
  usual.training.derive();
  for (const bool rare : {false, true}) {
    each_in_config([&](const Setting& setting, const std::string& section, const std::string& key) {
      if (setting.is_rare != rare) return;
      const Record value = setting.get(*this);
      if (!rare || value != setting.get(usual)) record[section][key] = value;
    });
  }
  record["pruning"] = json_of(pruning);
  return record;
}

namespace {

/// Settings without the removal.
RunSettings without_pruning(const Record& record, const std::string& origin) {
  const auto part = [&](const std::string& key) -> const Record& {
    if (!record.is_object() || !record.contains(key)) {
      throw FileError(fmt::format("{}: no \"{}\" in it", origin, key));
    }
    if (!record[key].is_object()) {
      throw FileError(fmt::format("{}: \"{}\" must be an object", origin, key));
    }
    return record[key];
  };
  RunSettings s;
  try {
    s.training.model = ModelConfig::from_record(part("model"));
    for (const bool rare : {false, true}) {
      each_in_config(
          [&](const Setting& setting, const std::string& section, const std::string& key) {
            if (setting.is_rare != rare) return;
            const Record& values = part(section);
            if (!values.contains(key)) {
              if (rare) return;
              throw FileError(fmt::format("{}: \"{}\" is missing", origin, key));
            }
            const Record& value = values[key];
            // 0 stands for none, as in a program that does not evaluate.
            if (value != 0) check(setting, value, quoted_name(key));
            setting.set(s, value, quoted_name(key));
          });
      if (!rare) s.training.derive();
    }
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", origin, error.what()));
  }
  return s;
}

}  // namespace

RunSettings RunSettings::from_record(const Record& record, const std::string& origin) {
  RunSettings settings = without_pruning(record, origin);
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

Record TrainingSettings::to_record() const {
  Record record = RunSettings{.training = *this}.to_record();
  record.erase("pruning");
  return record;
}

TrainingSettings TrainingSettings::from_record(const Record& record, const std::string& origin) {
  return without_pruning(record, origin).training;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
