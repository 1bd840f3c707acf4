// Makes the runs of a declaration.
#include "headroom_lab/study/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom_runs/runs/folder_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// All combinations of one level of each option.
std::vector<GivenSettings> combinations(const GivenSettings& factors) {
  std::vector<GivenSettings> all{{}};
  for (const auto& [name, value] : factors) {
    std::vector<GivenSettings> longer;
    for (const GivenSettings& begun : all) {
      for (const Record& level : levels_of(value)) {
        longer.push_back(begun);
        longer.back()[name] = level;
      }
    }
    all = std::move(longer);
  }
  return all;
}

GivenSettings merged(std::initializer_list<const GivenSettings*> parts) {
  GivenSettings all;
  for (const GivenSettings* part : parts) all.insert(part->begin(), part->end());
  return all;
}

bool is_level(const Record& allowed, const Record& level) {
  const std::vector<Record> levels = levels_of(allowed);
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

/// The options that a combination of levels sets.
GivenSettings set_by(const GivenSettings& factors, const GivenSettings& combination) {
  GivenSettings all;
  for (const auto& [name, level] : combination) {
    all.merge(options_of(name, factors.at(name), level));
  }
  return all;
}

/// Returns whether a rule allows an arm or control (`role`) under a combination of levels. A rule
/// applies if its single values all match; it then allows only the levels in its lists. A rule that
/// names only the other role does not apply.
bool allows(const GivenSettings& rule, GivenSettings combination, const std::string& role,
            const std::string& name) {
  const std::string other = role == "arm" ? "control" : "arm";
  if (rule.contains(other) && !rule.contains(role)) return true;
  combination[role] = name;
  const auto agree = [&](bool lists) {
    return std::all_of(rule.begin(), rule.end(), [&](const auto& entry) {
      return entry.first == other || entry.second.is_array() != lists ||
             is_level(entry.second, combination.at(entry.first));
    });
  };
  return !agree(false) || agree(true);
}

/// The number of steps of the longest run, where `steps` is a factor.
Index most_steps(const StudyDeclaration& declaration) {
  Index most = 0;
  for (const Record& level : levels_of(declaration.factors.at("steps"))) {
    most = std::max(most, level.get<Index>());
  }
  return most;
}

std::string hash_of(const Record& settings) { return checksum(settings.dump()); }

/// Makes the runs of a declaration.
class Planner {
 public:
  explicit Planner(const StudyDeclaration& declaration) : d_(declaration) {}

  StudyPlan plan() {
    const std::vector<StudyArm> arms = arms_of(d_);
    for (const StudyArm& arm : arms) plan_.arms.push_back(arm.name);
    for (const StudyControl control : d_.controls) {
      if (control != StudyControl::same_allocation) {
        plan_.arms.emplace_back(name_of(control));
        continue;
      }
      for (const auto& [arm, name] : allocations_of(d_)) plan_.arms.push_back(name);
    }
    for (const GivenSettings& trunk : combinations(d_.trunk.factors)) {
      for (const GivenSettings& factors : combinations(d_.factors)) {
        for (const GivenSettings& removal : combinations(d_.removal)) {
          plan_condition(trunk, factors, removal, arms);
        }
      }
    }
    if (plan_.entries.empty())
      throw UsageError("the rules of \"only\" leave no combination; remove or change a rule");
    return std::move(plan_);
  }

 private:
  void plan_condition(const GivenSettings& trunk, const GivenSettings& factors,
                      const GivenSettings& removal, const std::vector<StudyArm>& arms) {
    const GivenSettings combination = merged({&trunk, &factors, &removal});
    const auto allowed_as = [&](const char* role, const std::string& name) {
      return rules_allow(d_.only, combination, role, name);
    };
    Allowed allowed;
    std::copy_if(arms.begin(), arms.end(), std::back_inserter(allowed.arms),
                 [&](const StudyArm& arm) { return allowed_as("arm", arm.name); });
    std::copy_if(d_.controls.begin(), d_.controls.end(), std::back_inserter(allowed.controls),
                 [&](StudyControl c) { return allowed_as("control", name_of(c)); });
    if (allowed.arms.empty()) return;
    StudyCondition& condition = plan_.conditions.emplace_back();
    for (const GivenSettings* words : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      for (const auto& [name, value] : *words) {
        if (levels_of(value).size() > 1) condition.levels[name] = combination.at(name);
      }
    }
    for (const Index seed : d_.seeds) {
      for (Index fold = 0; fold < d_.folds; ++fold) {
        plan_seed(seed, fold,
                  {set_by(d_.trunk.factors, trunk), set_by(d_.factors, factors),
                   set_by(d_.removal, removal)},
                  allowed);
      }
    }
  }

  /// The arms and controls of a condition that the rules allow.
  struct Allowed {
    std::vector<StudyArm> arms;
    std::vector<StudyControl> controls;
  };
  /// The options that the levels of a condition set.
  struct Levels {
    GivenSettings trunk, factors, removal;
  };

  void plan_seed(Index seed, Index fold, const Levels& levels, const Allowed& allowed) {
    StudyCell common;
    common.trunk = trunk_key(seed, fold, levels.trunk);
    common.seed = seed;
    common.fold = fold;
    const GivenSettings whole = merged({&d_.base, &levels.trunk, &levels.factors});
    std::map<std::string, std::string> keys;  // of arms
    for (const StudyArm& arm : allowed.arms) {
      StudyCell cell = common;
      cell.options = merged({&whole, &arm.options, &levels.removal});
      keys[arm.name] = add(std::move(cell), arm.name);
    }
    for (const StudyControl control : allowed.controls) {
      StudyCell cell = common;
      cell.control = control;
      cell.options = whole;
      if (control != StudyControl::none) {
        cell.remove = levels.removal.at("prune").get<Index>();
      }
      const bool removes = control == StudyControl::random ||
                           control == StudyControl::same_allocation ||
                           control == StudyControl::costliest_first;
      if (removes) {
        cell.options = merged({&whole, &levels.removal});
        for (const char* choosing : {"prune", "metric", "gates", "rescore"}) {
          cell.options.erase(choosing);
        }
      }
      if (control == StudyControl::same_allocation) {
        for (const auto& [arm, name] : allocations_of(d_)) add_copy(cell, keys[arm], name);
      } else if (control == StudyControl::same_mask_reinitialised) {
        add_copy(cell, keys[d_.reference], name_of(control));
      } else {
        add_draws(cell, name_of(control));
      }
    }
  }

  /// Adds a control that copies heads of another cell, unless a rule excludes that cell.
  void add_copy(StudyCell cell, const std::string& reference, const std::string& name) {
    if (reference.empty()) return;
    cell.reference = reference;
    add_draws(std::move(cell), name);
  }

  void add_draws(StudyCell cell, const std::string& name) {
    const Index draws = cell.control == StudyControl::random ? d_.random_draws
                        : cell.control == StudyControl::same_allocation
                            ? d_.allocation_draws.value_or(d_.random_draws)
                            : 1;
    for (cell.draw = 0; cell.draw < draws; ++cell.draw) add(cell, name);
  }

  std::string trunk_key(Index seed, Index fold, const GivenSettings& factors) {
    TrunkPlan trunk{.key = {}, .seed = seed, .fold = fold, .options = merged({&d_.base, &factors})};
    if (!trunk.options.contains("steps")) trunk.options["steps"] = most_steps(d_);
    trunk.key = hash_of({{"trunk", trunk.options},
                         {"until", d_.trunk.until},
                         {"seed", seed},
                         {"fold", fold},
                         {"folds", d_.folds},
                         {"double", is_double}});
    const std::string key = trunk.key;
    if (std::none_of(plan_.trunks.begin(), plan_.trunks.end(),
                     [&](const TrunkPlan& other) { return other.key == key; })) {
      plan_.trunks.push_back(std::move(trunk));
    }
    return key;
  }

  /// Adds a cell to the newest condition, unless an equal one is there. Returns its key.
  std::string add(StudyCell cell, const std::string& arm) {
    cell.key = hash_of({{"trunk", cell.trunk},
                        {"control", cell.control ? name_of(*cell.control) : ""},
                        {"draw", cell.draw},
                        {"remove", cell.remove},
                        {"reference", cell.reference},
                        {"options", cell.options}});
    const std::string key = cell.key;
    plan_.entries.push_back({plan_.conditions.size() - 1, arm, key});
    if (std::none_of(plan_.cells.begin(), plan_.cells.end(),
                     [&](const StudyCell& other) { return other.key == key; })) {
      plan_.cells.push_back(std::move(cell));
    }
    return key;
  }

  const StudyDeclaration& d_;
  StudyPlan plan_;
};

}  // namespace

bool rules_allow(const std::vector<GivenSettings>& rules, const GivenSettings& combination,
                 const std::string& role, const std::string& name) {
  return std::all_of(rules.begin(), rules.end(), [&](const GivenSettings& rule) {
    return allows(rule, combination, role, name);
  });
}

bool StudyCell::branches() const {
  return control != StudyControl::same_mask_reinitialised &&
         control != StudyControl::small_from_start;
}

RunSettings StudyCell::settings() const {
  GivenSettings given = options;
  if (control && remove > 0) given["prune"] = remove;
  if (auto of_folder = settings_with_folder(given, quoted_name)) return *std::move(of_folder);
  return settings_of(given, quoted_name);
}

std::string StudyCondition::text() const {
  std::string text;
  for (const auto& [name, level] : levels) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, plain_text(level));
  }
  return text;
}

StudyPlan plan_of(const StudyDeclaration& declaration) {
  StudyPlan plan = Planner(declaration).plan();
  for (const StudyCell& cell : plan.cells) cell.settings();  // contradictions end no long study
  return plan;
}

Index steps_of(const StudyCell& cell, const StudyDeclaration& declaration) {
  const auto steps = cell.options.at("steps").get<Index>();
  return cell.branches() ? steps - declaration.trunk.until : steps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
