// The parts of which rows of settings are made. Private to the runs floor.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headroom_runs/runs/setting.hpp"
#include "runs/setting_values.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The rows of the data and of the tables, in all_settings().
std::vector<Setting> data_settings();
std::vector<Setting> table_settings();

namespace setting_rows {

using R = RunSettings;
using T = TrainingSettings;
using setting_values::Value;

/// The way to a member of a member of RunSettings.
template <class Outer, class... Inner>
auto in(Outer outer, Inner... inner) {
  return [=](auto& settings) -> auto& {
    if constexpr (sizeof...(inner) == 0) {
      return settings.*outer;
    } else {
      return in(inner...)(settings.*outer);
    }
  };
}

using Fault = std::function<std::string(double)>;

/// A count from `least` to `most`.
inline Fault count(Index least, Index most = 1'000'000'000'000) {
  return [least, most](double v) -> std::string {
    if (v < 0 && least == 0) return "is negative";
    if (v < double(least)) return fmt::format("is less than {}", least);
    return v > double(most) ? fmt::format("is more than {}", most) : "";
  };
}
inline std::string no_share(double v) { return v >= 0 && v <= 1 ? "" : "is not in [0, 1]"; }
inline std::string no_share_below_1(double v) { return v >= 0 && v < 1 ? "" : "is not in [0, 1)"; }
inline std::string not_positive(double v) {
  return v > 0 && std::isfinite(v) ? "" : "is not a positive number";
}
inline std::string not_from_0(double v) {
  return v >= 0 && std::isfinite(v) ? "" : "is not a finite number from 0";
}
inline constexpr Index most_examples = 100'000'000, widest = 10'000'000, most_tokens = 1'000'000;

/// A setting that is a member of the settings.
template <class Way>
Setting row(std::string name, std::string path, Way way, std::string help, Fault fault = {}) {
  using Member = std::remove_cvref_t<decltype(way(std::declval<RunSettings&>()))>;
  Setting made{.name = std::move(name),
               .path = std::move(path),
               .help = std::move(help),
               .type = Value<Member>::type,
               .value = Value<Member>::word,
               .fault = std::move(fault)};
  if constexpr (std::is_enum_v<Member>) {
    for (const Member member : all_of<Member>()) made.choices.emplace_back(name_of(member));
  }
  made.get = [way](const RunSettings& s) { return Value<Member>::written(way(s)); };
  made.set = [way](RunSettings& s, const Record& value, const std::string& shown) {
    way(s) = Value<Member>::read(value, shown);
  };
  return made;
}

/// A setting that is a part of a rule of settings_of().
inline Setting part(std::string name, SettingType type, std::string value, std::string help,
                    Fault fault = {}) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = type,
          .value = std::move(value),
          .fault = std::move(fault)};
}

inline Setting turns_off(Setting made) {
  made.turns_off = true;
  return made;
}
inline Setting with(Setting made, std::vector<std::string> synonyms) {
  made.synonyms = std::move(synonyms);
  return made;
}
inline Setting first(Setting made) {
  made.is_first = true;
  return made;
}
inline Setting rare(Setting made) {
  made.is_rare = true;
  return made;
}
inline Setting only_in_files(Setting made) {
  made.is_option = false;
  return made;
}
inline Setting removing(Setting made) {
  made.needs_removal = true;
  return made;
}
inline Setting called(std::string value, Setting made) {
  made.value = std::move(value);
  return made;
}

}  // namespace setting_rows
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
