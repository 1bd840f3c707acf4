// Setting: one row for everything that a user can set of a run. Options and their help, files of
// settings, the words of studies, config.json, and errors about all of them follow from the rows.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom_runs/runs/run_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Values by the names of all_settings(): {"steps": 300, "post_norm": true}. Flags are true or
/// false, lists are JSON lists, all others are numbers or texts.
using GivenSettings = std::map<std::string, Record>;

/// How a message calls a setting: --prune-from on the command line, "prune_from" in a file.
using SettingNames = std::function<std::string(const std::string& name)>;
std::string option_text(const std::string& name);
std::string quoted_name(const std::string& name);

/// The parts of the help of `train`.
enum class SettingGroup { data, model, training, removal, regrowth, output };
/// "Heads to remove"
std::string title_of(SettingGroup group);

/// The kinds of values of a setting.
enum class SettingType { flag, whole, number, text, wholes };

/// A setting of a run: an option of `train` and a key of config.json.
struct Setting {
  std::string name;
  std::vector<std::string> synonyms = {};  // other names of its option
  std::string path = {};                   // in config.json: "training.clip"; empty: it has none
  std::string help = {};                   // {steps} stands for the name of another setting
  SettingGroup group = SettingGroup::data;
  SettingType type = SettingType::text;
  std::string value = {};  // the word for its value in help: "NAME"; empty: by its type
  std::vector<std::string> choices = {};  // all values that it can have, if they are few
  bool is_option = true;                  // false: only files set it
  bool is_first = false;                  // one of those that matter most
  bool turns_off = false;                 // a flag that sets its member to false
  bool is_rare = false;                   // config.json leaves it out where it is the default
  bool needs_removal = false;             // of a run that removes heads
  std::vector<std::string> tasks = {};    // that it belongs to; empty: all
  /// Returns the broken rule for a number, such as "is less than 1", or "". Empty: no rule.
  std::function<std::string(double)> fault = {};

  /// Reads a value of the right type; `shown` is the setting's name in errors. Throws UsageError.
  /// Both are empty for a setting that is a part of a rule of settings_of().
  std::function<void(RunSettings&, const Record& value, const std::string& shown)> set = {};
  std::function<Record(const RunSettings&)> get = {};
};

/// In the order of help.
const std::vector<Setting>& all_settings();
/// The row of this name or synonym, with _ or - ; null if there is none.
const Setting* find_setting(std::string name);
/// Its description, with the names that `shown` gives for other settings.
std::string help_of(const Setting& setting, const SettingNames& shown);
/// The names of all settings that are options, with -, for "did you mean".
std::vector<std::string> option_names();

/// The settings that work well for a task, so that only its name needs to be given.
RunSettings usual_settings(const std::string& task);

/// The settings of a run: those of `base` (usually the task's) with what is given, and what follows
/// from it where it is not given: hidden = 4 width, the peak rate of another optimizer, a warm-up
/// of at most a tenth of the steps, the schedule of the removal. Throws UsageError, with the names
/// that `shown` gives, for an unknown setting (with the nearest), for a value of another type or
/// out of range, and for settings that contradict each other. `keep` and learned gates are complete
/// after fit_to_model().
RunSettings settings_of(const GivenSettings& given, const SettingNames& shown,
                        std::optional<RunSettings> base = {});

/// Throws UsageError, naming the nearest numbers of heads that fit, unless the width can be divided
/// among the heads.
void require_heads_divide(Index heads, Index width, const SettingNames& shown);

/// Completes settings when the model's sizes are known. With `keep` all heads but so many are
/// removed. Throws UsageError for heads that the model does not have, and if so many cannot be
/// removed, which would otherwise stop the run when the first ones are chosen.
void fit_to_model(RunSettings& settings, const GivenSettings& given, const SettingNames& shown);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
