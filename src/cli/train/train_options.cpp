// Options from the rows of all settings.
#include "cli/train/train_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/train/train_from.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/runs/folder_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A value as help shows it; "" where there is none to show.
std::string shown_value(const Record& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.is_array() ? "" : value.dump();
}

/// The default of a setting for every task, in the order of task_list().
std::vector<std::string> defaults_of(const Setting& setting) {
  static const std::vector<RunSettings> usual = [] {
    std::vector<RunSettings> all;
    for (const TaskInfo& info : task_list()) {
      all.push_back(usual_settings(info.name));
      all.back().training.task = "";  // the only difference between two tasks is not their name
    }
    return all;
  }();
  std::vector<std::string> values;
  if (!setting.get || setting.help.find("(default: ") != std::string::npos) return values;
  for (const RunSettings& settings : usual) values.push_back(shown_value(setting.get(settings)));
  return values;
}

bool differ(const std::vector<std::string>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to()) != values.end();
}

bool is_config_of_run(const Record& file) {
  return file.is_object() && file.contains("training") && file["training"].is_object();
}

/// The name of a setting in the table of defaults.
std::string name_in_table(const Setting& setting) {
  if (setting.is_option) return option_text(setting.name);
  std::string words = setting.name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Throws UsageError for a setting that the model of --from decides.
void require_no_sizes(const GivenSettings& given) {
  for (const auto& [name, value] : given) {
    const bool of_vocabulary =
        name == "symbols" || name == "target_symbols" || name == "least_count" || name == "init";
    const bool of_sizes = find_setting(name)->group == SettingGroup::model && name != "dropout";
    require(!of_vocabulary && !of_sizes,
            fmt::format("{} cannot be given with --from: the model has its {}", option_text(name),
                        name == "init" ? "weights"
                        : of_sizes     ? "sizes"
                                       : "vocabulary"));
  }
}

}  // namespace

CLI::Option* TrainOptions::add(CLI::App& app, const Setting& setting) {
  std::string names = option_text(setting.name);
  for (const std::string& other : setting.synonyms) names += "," + option_text(other);
  const std::string help = help_of(setting, option_text);
  const auto keep = [this, name = setting.name](const auto& value) { given_[name] = value; };
  switch (setting.type) {
    case SettingType::flag:
      return app.add_flag_function(
          names, [keep](Index) { keep(true); }, help);
    case SettingType::whole: return app.add_option_function<Index>(names, keep, help);
    case SettingType::number: return app.add_option_function<double>(names, keep, help);
    case SettingType::text: return app.add_option_function<std::string>(names, keep, help);
    case SettingType::wholes:
      return app.add_option_function<std::vector<Index>>(names, keep, help)
          ->type_name("N")
          ->delimiter(',');
  }
  return nullptr;
}

void TrainOptions::add_to(CLI::App& app) {
  app.add_option("--config", config_,
                 "settings from a file: the config.json of a run, or {\"steps\": 300, ...} with "
                 "the names of these options; options that are given, too, come before it")
      ->type_name("FILE");
  for (const Setting& setting : all_settings()) {
    if (!setting.is_option) continue;
    CLI::Option* const option = added_.emplace_back(add(app, setting));
    option->group(title_of(setting.group));
    if (!setting.choices.empty()) offer(*option, setting.choices);
    if (!setting.value.empty()) option->type_name(setting.value);
    if (setting.type == SettingType::flag) continue;
    const std::vector<std::string> defaults = defaults_of(setting);
    if (defaults.empty() || defaults[0].empty() || (defaults[0] == "0" && !differ(defaults))) {
      continue;
    }
    option->default_str(differ(defaults) ? "by task" : defaults[0]);
  }
}

std::vector<std::string> TrainOptions::first_names() {
  std::vector<std::string> names{"config", "out", "resume"};
  for (const Setting& setting : all_settings()) {
    if (setting.is_first) names.push_back(option_text(setting.name).substr(2));
  }
  return names;
}

std::string TrainOptions::recipes() {
  const std::vector<TaskInfo> tasks = task_list();
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // settings that differ
  for (const Setting& setting : all_settings()) {
    const std::vector<std::string> values = defaults_of(setting);
    if (differ(values)) rows.emplace_back("  " + name_in_table(setting), values);
  }
  // Tasks with equal recipes share a column; that of most tasks comes last, without their names.
  const auto column = [&](std::size_t task) {
    std::vector<std::string> values;
    for (const auto& [name, of_task] : rows) values.push_back(of_task[task]);
    return values;
  };
  const auto usual = std::find_if(tasks.begin(), tasks.end(), [](const TaskInfo& info) {
    return info.name == TrainingSettings().task;
  });
  const std::vector<std::string> others = column(std::size_t(usual - tasks.begin()));
  std::vector<std::pair<std::string, std::vector<std::string>>> columns;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    const std::vector<std::string> values = column(task);
    if (values == others) continue;
    const auto same = std::find_if(columns.begin(), columns.end(),
                                   [&](const auto& known) { return known.second == values; });
    if (same == columns.end()) {
      columns.emplace_back(tasks[task].name, values);
    } else {
      same->first += ", " + tasks[task].name;
    }
  }
  columns.emplace_back("other tasks", others);
  std::string text = before_column("Defaults by task:", help_column);
  const auto add_row = [&](const auto& cell) {
    for (const auto& each : columns) {
      text += &each == &columns.back() ? cell(each) : before_column(cell(each), 13);
    }
  };
  add_row([](const auto& each) { return each.first; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "\n" + before_column(rows[i].first, help_column);
    add_row([i](const auto& each) { return each.second[i]; });
  }
  return text;
}

std::optional<RunSettings> TrainOptions::base(const GivenSettings& given) const {
  const Record file = config_.empty() ? Record() : read_config_file(config_);
  if (given.contains("from")) {
    require(!is_config_of_run(file),
            "--from and the config.json of a run cannot be combined: a run that begins with "
            "another one has its settings where nothing else is given");
    const auto task = given.find("task");
    return settings_from(given.at("from").get<std::string>(),
                         usual_settings(task == given.end() ? TrainingSettings().task
                                                            : task->second.get<std::string>()));
  }
  if (!is_config_of_run(file)) return std::nullopt;
  return RunSettings::from_record(file, config_);
}

GivenSettings TrainOptions::all_given() const {
  GivenSettings all = given_;
  if (config_.empty()) return all;
  const Record file = read_config_file(config_);
  if (!file.is_object()) throw FileError(config_ + ": must be an object of settings");
  if (is_config_of_run(file)) return all;
  GivenSettings in_file;
  for (const auto& [name, value] : file.items()) in_file[name] = value;
  try {
    settings_of(in_file, quoted_name);  // an error names the file's words
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", config_, error.what()));
  }
  for (const auto& [name, value] : in_file) all.emplace(find_setting(name)->name, value);
  return all;
}

RunSettings TrainOptions::settings() const {
  const GivenSettings given = all_given();
  if (const auto metric = given.find("metric"); metric != given.end()) {
    require_metric(metric->second.get<std::string>());
  }
  if (given.contains("from")) require_no_sizes(given);
  if (auto of_folder = settings_with_folder(given, option_text)) return *std::move(of_folder);
  RunSettings settings = settings_of(given, option_text, base(given));
  ModelConfig& model = settings.training.model;
  if (!settings.training.folder.empty() && given.contains("dropout")) {
    set_dropout(model, model.block.dropout);
  }
  if (!given.contains("from")) return settings;
  fit_to_beginning(settings, given.contains("moments"));
  return settings;
}

void TrainOptions::give_steps_of_epochs(const TrainingSettings& settings,
                                        std::optional<Index> examples) {
  require(!has("steps"), "--epochs and --steps cannot be combined");
  require(examples.has_value(),
          "--epochs: the windows of a text are drawn at random, so it has no passes; give --steps");
  const Index batch = settings.learner.batch_size * settings.learner.accumulate;
  const double epochs = all_given().at("epochs").get<double>();
  const auto steps = Index(std::ceil(epochs * double(*examples) / double(batch)));
  given_["steps"] = std::max(steps, Index(1));
  print_error("{} passes through {} examples in batches of {} are {} steps\n",
              fmt::format("{:g}", epochs), with_commas(*examples), batch, with_commas(steps));
}

void TrainOptions::fit(RunSettings& settings) const {
  fit_to_model(settings, all_given(), option_text);
}

std::string TrainOptions::first_given() const {
  if (!config_.empty()) return "--config";
  for (const CLI::Option* option : added_) {
    const std::string name = option->get_name();
    const bool may_move = name == "--data" || name == "--validation-data" || name == "--test-data";
    if (option->count() > 0 && !may_move) return name;
  }
  return {};
}

std::optional<std::string> TrainOptions::path(const char* name) const {
  const auto found = given_.find(name);
  if (found == given_.end()) return std::nullopt;
  return found->second.get<std::string>();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
