// Given settings as the rules read them.
#pragma once

#include <optional>
#include <string>

#include "headroom_runs/runs/setting.hpp"
#include "runs/setting_values.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class Given {
 public:
  /// Refers to both. Names are those of rows, not synonyms.
  Given(const GivenSettings& values, const SettingNames& shown) : values_(values), shown_(shown) {}

  bool has(const char* name) const { return values_.contains(name); }
  /// The value, if it is given. Throws UsageError for one of another type.
  std::optional<Index> whole(const char* name) const;
  std::optional<double> number(const char* name) const;
  std::optional<std::string> text(const char* name) const;
  /// A step, either its number ("300") or a share of the steps with a point ("0.3").
  std::optional<Index> step(const char* name, Index steps) const;
  template <class Enum>
  std::optional<Enum> named(const char* name) const {
    if (!has(name)) return std::nullopt;
    return setting_values::Value<Enum>::read(values_.at(name), shown_(name));
  }

  /// The setting's name in a message.
  std::string operator()(const char* name) const { return shown_(name); }
  /// Its name and its value: "--prune-to 300".
  std::string with_value(const char* name) const;

 private:
  const GivenSettings& values_;
  const SettingNames& shown_;
};

/// The recipe that the rules make of what is given, on top of `base`, in which the settings are
/// already that are members. With `keep` or gates it is complete after fit_to_model().
PruningRecipe removal_of(const Given& given, PruningRecipe base, Index steps);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
