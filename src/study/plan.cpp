// From a declaration to runs.
#include "headroom/study/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// All combinations of one level of each option.
std::vector<TrainWords> combinations(const TrainWords& factors) {
  std::vector<TrainWords> all{{}};
  for (const auto& [name, value] : factors) {
    std::vector<TrainWords> longer;
    for (const TrainWords& begun : all) {
      for (const Record& level : levels_of(value)) {
        longer.push_back(begun);
        longer.back()[name] = level;
      }
    }
    all = std::move(longer);
  }
  return all;
}

TrainWords merged(std::initializer_list<const TrainWords*> parts) {
  TrainWords all;
  for (const TrainWords* part : parts) all.insert(part->begin(), part->end());
  return all;
}

bool is_level(const Record& allowed, const Record& level) {
  const std::vector<Record> levels = levels_of(allowed);
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

/// A rule whose single values all agree with the combination allows it only the levels of its
/// lists.
bool allows(const TrainWords& rule, TrainWords combination, const std::string& arm) {
  combination["arm"] = arm;
  for (const auto& [name, value] : rule) {
    if (!value.is_array() && combination.at(name) != value) return true;
  }
  return std::all_of(rule.begin(), rule.end(), [&](const auto& entry) {
    return is_level(entry.second, combination.at(entry.first));
  });
}

/// The length of the longest run, where lengths differ.
Index most_steps(const StudyDeclaration& declaration) {
  Index most = 0;
  for (const Record& level : levels_of(declaration.factors.at("steps"))) {
    most = std::max(most, level.get<Index>());
  }
  return most;
}

std::string hash_of(const Record& settings) {
  return fmt::format("{:016x}", hash_name(settings.dump()));
}

/// Makes the runs of a declaration.
class Planner {
 public:
  explicit Planner(const StudyDeclaration& declaration) : d_(declaration) {}

  StudyPlan plan() {
    const std::vector<StudyArm> arms = arms_of(d_);
    for (const StudyArm& arm : arms) plan_.arms.push_back(arm.name);
    for (const StudyControl control : d_.controls) plan_.arms.emplace_back(name_of(control));
    for (const TrainWords& trunk : combinations(d_.trunk.factors)) {
      for (const TrainWords& factors : combinations(d_.factors)) {
        for (const TrainWords& removal : combinations(d_.removal)) {
          plan_condition(trunk, factors, removal, arms);
        }
      }
    }
    if (plan_.entries.empty()) throw UsageError("the rules of \"only\" leave no combination");
    return std::move(plan_);
  }

 private:
  void plan_condition(const TrainWords& trunk, const TrainWords& factors, const TrainWords& removal,
                      const std::vector<StudyArm>& arms) {
    const TrainWords combination = merged({&trunk, &factors, &removal});
    std::vector<StudyArm> allowed;
    std::copy_if(arms.begin(), arms.end(), std::back_inserter(allowed), [&](const StudyArm& arm) {
      return std::all_of(d_.only.begin(), d_.only.end(), [&](const TrainWords& rule) {
        return allows(rule, combination, arm.name);
      });
    });
    if (allowed.empty()) return;
    StudyCondition& condition = plan_.conditions.emplace_back();
    for (const TrainWords* words : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      for (const auto& [name, value] : *words) {
        if (levels_of(value).size() > 1) condition.levels[name] = combination.at(name);
      }
    }
    for (const Index seed : d_.seeds) {
      for (Index fold = 0; fold < d_.folds; ++fold) {
        plan_seed(seed, fold, {trunk, factors, removal}, allowed);
      }
    }
  }

  struct Levels {
    const TrainWords &trunk, &factors, &removal;
  };

  void plan_seed(Index seed, Index fold, const Levels& levels, const std::vector<StudyArm>& arms) {
    StudyCell common;
    common.trunk = trunk_key(seed, fold, levels.trunk);
    common.seed = seed;
    common.fold = fold;
    TrainWords whole = merged({&d_.base, &levels.trunk, &levels.factors});
    std::string reference;
    for (const StudyArm& arm : arms) {
      StudyCell cell = common;
      cell.options = merged({&whole, &levels.removal, &arm.options});
      const std::string key = add(std::move(cell), arm.name);
      if (arm.name == d_.reference) reference = key;
    }
    for (const StudyControl control : d_.controls) {
      StudyCell cell = common;
      cell.control = control;
      cell.options = whole;
      if (control != StudyControl::none) {
        cell.remove = levels.removal.at("prune").get<Index>();
      }
      const bool copies = control == StudyControl::same_allocation ||
                          control == StudyControl::same_mask_reinitialised;
      if (copies && reference.empty()) continue;  // a rule has left it out
      if (copies) cell.reference = reference;
      const bool removes = control == StudyControl::random ||
                           control == StudyControl::same_allocation ||
                           control == StudyControl::costliest_first;
      if (removes) {
        cell.options = merged({&whole, &levels.removal});
        for (const char* choosing : {"prune", "metric", "gates", "rescore"}) {
          cell.options.erase(choosing);
        }
      }
      const bool drawn =
          control == StudyControl::random || control == StudyControl::same_allocation;
      for (cell.draw = 0; cell.draw < (drawn ? d_.random_draws : 1); ++cell.draw) {
        add(cell, name_of(control));
      }
    }
  }

  std::string trunk_key(Index seed, Index fold, const TrainWords& factors) {
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

bool StudyCell::branches() const {
  return control != StudyControl::same_mask_reinitialised &&
         control != StudyControl::small_from_start;
}

std::string StudyCondition::text() const {
  std::string text;
  for (const auto& [name, level] : levels) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, plain_text(level));
  }
  return text;
}

StudyPlan plan_of(const StudyDeclaration& declaration) { return Planner(declaration).plan(); }

Index steps_of(const StudyCell& cell, const StudyDeclaration& declaration) {
  const auto steps = cell.options.at("steps").get<Index>();
  return cell.branches() ? steps - declaration.trunk.until : steps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
