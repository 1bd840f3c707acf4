// Reads the declaration of a study from its file.
#include "headroom_lab/study/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_measure/importance/metric_names.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Options of `train` that only the study sets in its runs.
const std::set<std::string> own_options = {
    "seed",    "until", "branch", "moments", "remove",  "without", "init", "epochs",     "no_test",
    "no_page", "out",   "resume", "force",   "threads", "config",  "fold", "measure_cut"};

/// A study of seconds for each run would take a day.
constexpr double most_runs = 20'000;

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string underlined(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The setting's own name for a synonym.
std::string canonical(const std::string& name) {
  const Setting* const setting = find_setting(name);
  return setting != nullptr ? setting->name : name;
}

bool is_scalar(const Record& value) {
  return value.is_string() || value.is_number() || value.is_boolean();
}

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Checks a declaration. Throws DataError.
class Checker {
 public:
  Checker(const StudyDeclaration& declaration, const std::string& origin)
      : d_(declaration), origin_(origin) {}

  void check() {
    require(is_word(d_.name), "name", "must be made of letters, digits, _ and -");
    check_seeds();
    require(d_.trunk.until >= 1, "trunk.until", "must be at least 1");
    for (const auto& [name, value] : d_.base) {
      check_option("base", name);
      require(is_scalar(value), "base." + name, "must be one value");
    }
    check_factors("trunk.factors", d_.trunk.factors);
    check_factors("factors", d_.factors);
    check_factors("removal", d_.removal);
    check_steps();
    check_arms();
    check_rules("only", d_.only);
    check_rules("contrasts.only", d_.contrasts.only);
    check_controls();
    check_measures();
    require(d_.random_draws >= 1, "random_draws", "must be at least 1");
    require(d_.allocation_draws.value_or(1) >= 1, "allocation_draws", "must be at least 1");
    require(d_.folds >= 1, "folds", "must be at least 1");
    require(d_.processes >= 1, "processes", "must be at least 1");
    require(d_.importance.examples >= 1, "importance.examples", "must be at least 1");
    check_metrics();
    check_size();
  }

 private:
  void require(bool right, const std::string& where, const std::string& rule) const {
    if (!right) throw DataError(fmt::format("{}: {} {}", origin_, where, rule));
  }

  void check_metrics() const {
    try {
      metrics_in(d_.importance.metrics, "importance.metrics");
    } catch (const UsageError& error) {
      throw DataError(fmt::format("{}: {}", origin_, error.what()));
    }
  }

  void check_seeds() const {
    require(!d_.seeds.empty(), "seeds", "must have at least one seed");
    const std::set<Index> different(d_.seeds.begin(), d_.seeds.end());
    require(different.size() == d_.seeds.size(), "seeds", "must list each seed once");
    require(*different.begin() >= 0, "seeds", "must not be negative");
  }

  /// Requires an option of `train` that is set in one place only.
  void check_option(const std::string& where, const std::string& name) {
    const std::string place = where + "." + name;
    require(!own_options.contains(underlined(name)), place, "is set by the study; leave it out");
    if (name == "from") {
      const auto from = d_.base.find(name);
      const bool is_folder = from != d_.base.end() && from->second.is_string() &&
                             is_model_folder(from->second.get<std::string>());
      require(is_folder, place, "must be a model folder of Transformers, and in base");
    }
    const Setting* const setting = find_setting(name);
    require(setting != nullptr && setting->is_option, place,
            fmt::format("is not an option of train{}", did_you_mean(name, option_names())));
    require(setting->name != "keep", place,
            "is the number of heads to keep in all, which removal.prune sets; the minimum in every "
            "attention is at_least");
    const auto [first, added] = set_in_.emplace(setting->name, where);
    require(added, place, fmt::format("is set in {}, too; set it in one place", first->second));
  }

  void check_factors(const std::string& where, const GivenSettings& factors) {
    for (const auto& [name, value] : factors) {
      const std::string place = where + "." + name;
      if (value.is_object()) {
        check_named_levels(place, name, value);
        continue;
      }
      check_option(where, name);
      std::vector<Record> seen;
      for (const Record& level : levels_of(value)) {
        require(is_scalar(level), place, "must be a value or a list of values");
        require(!contains(seen, level), place, fmt::format("must list {} once", level.dump()));
        seen.push_back(level);
      }
      require(!seen.empty(), place, "must have at least one value");
    }
  }

  /// Checks a factor whose levels set several options each.
  void check_named_levels(const std::string& place, const std::string& name, const Record& levels) {
    require(find_setting(name) == nullptr, place,
            "has the name of an option of train; give the factor another name");
    require(name != "arm" && name != "control" && name != "measure", place,
            "has a name that rules use; give the factor another name");
    require(!levels.empty(), place, "must have at least one level");
    std::set<std::string> here;
    for (const auto& [level, words] : levels.items()) {
      const std::string inside = place + "." + level;
      require(words.is_object(), inside, "must be an object of options");
      for (const auto& [option, value] : words.items()) {
        require(is_scalar(value), inside + "." + option, "must be one value");
        require(option != "prune" && option != "steps", inside + "." + option,
                "cannot be set in a named level; make it a factor of its own");
        if (here.insert(canonical(option)).second) check_option(inside, option);
      }
    }
    in_levels_.insert(here.begin(), here.end());
  }

  /// Runs of different lengths share a trunk, whose learning rate must not depend on their length.
  void check_steps() const {
    const auto in_base = d_.base.find("steps"), as_factor = d_.factors.find("steps");
    const bool factor = as_factor != d_.factors.end();
    require(factor || in_base != d_.base.end(), "steps", "must be set in base or in factors");
    const std::string place = factor ? "factors.steps" : "base.steps";
    const std::vector<Record> all = levels_of(factor ? as_factor->second : in_base->second);
    for (const Record& steps : all) {
      require(steps.is_number_integer() && steps.get<Index>() > d_.trunk.until, place,
              fmt::format("must be more than trunk.until, {}", d_.trunk.until));
    }
    require(all.size() == 1 || set_in_.contains("schedule_steps"), "base.schedule_steps",
            "must be set, because factors.steps has several values");
  }

  void check_arms() {
    require(d_.arms.is_object() && !d_.arms.empty(), "arms",
            "must be an object with at least one arm: {\"name\": {options}} or "
            "{\"option\": [values]}");
    for (const auto& [name, value] : d_.arms.items()) {
      require(value.is_object() || (value.is_array() && !value.empty()), "arms." + name,
              "must be an object of options or a list of values");
    }
    for (const StudyArm& arm : arms_of(d_)) {
      const std::string where = "arms." + arm.name;
      require(!contains(names_, arm.name), where, "is the name of two arms; rename one");
      for (const StudyControl control : all_of<StudyControl>()) {
        require(arm.name != name_of(control), where, "is the name of a control; rename the arm");
      }
      for (const auto& [option, value] : arm.options) {
        require(is_scalar(value), where + "." + option, "must be one value");
        const auto found = set_in_.find(canonical(option));  // other arms may set it, too
        const bool in_arms = found != set_in_.end() && found->second.starts_with("arms");
        if (!in_arms && !in_levels_.contains(canonical(option))) check_option("arms", option);
      }
      names_.push_back(arm.name);
    }
  }

  void check_rules(const std::string& place, const std::vector<GivenSettings>& rules) const {
    for (const GivenSettings& rule : rules) {
      for (const auto& [name, value] : rule) {
        const std::string where = place + "." + name;
        const std::vector<Record> known = known_levels(where, name);
        for (const Record& level : levels_of(value)) {
          require(contains(known, level), where,
                  fmt::format("has {}, which is not one of its levels: {}", level.dump(),
                              Record(known).dump()));
        }
      }
    }
  }

  std::vector<Record> known_levels(const std::string& where, const std::string& name) const {
    if (name == "arm") return std::vector<Record>(names_.begin(), names_.end());
    if (name == "measure" && where.starts_with("contrasts")) {
      return std::vector<Record>(d_.measures.begin(), d_.measures.end());
    }
    if (name == "control") {
      std::vector<Record> controls;
      for (const StudyControl control : d_.controls) controls.emplace_back(name_of(control));
      return controls;
    }
    std::vector<std::string> factors{"arm", "control"};
    for (const GivenSettings* words : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      const auto found = words->find(name);
      if (found != words->end()) return levels_of(found->second);
      for (const auto& [factor, levels] : *words) factors.push_back(factor);
    }
    require(false, where,
            fmt::format("is not a factor of this study{}", did_you_mean(name, factors)));
    return {};
  }

  /// A wrong number must not ask for memory for billions of runs.
  void check_size() const {
    double runs = double(d_.seeds.size()) * double(d_.folds);
    for (const GivenSettings* factors : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      for (const auto& [name, value] : *factors) runs *= double(levels_of(value).size());
    }
    const auto arms = double(names_.size() + d_.controls.size());
    const double draws = double(d_.random_draws) +
                         double(d_.allocation_draws.value_or(d_.random_draws)) *
                             double(std::max<std::size_t>(1, d_.same_allocation_of.size()));
    runs *= arms + draws;
    require(runs <= most_runs, "seeds, folds, factors, arms and draws",
            fmt::format("make more than {:.0f} runs", most_runs));
  }

  void check_controls() const {
    std::set<StudyControl> different(d_.controls.begin(), d_.controls.end());
    require(different.size() == d_.controls.size(), "controls", "must list each control once");
    for (const StudyControl control :
         {StudyControl::same_mask_reinitialised, StudyControl::small_from_start}) {
      require(
          !d_.base.contains("from") || !different.contains(control), "controls",
          fmt::format("{} begins with new weights; leave it out with base.from", name_of(control)));
    }
    different.erase(StudyControl::none);
    require(different.empty() || d_.removal.contains("prune"), "removal.prune",
            "must be set: it says how many heads the controls remove");
    if (d_.removal.contains("prune")) {
      for (const Record& heads : levels_of(d_.removal.at("prune"))) {
        require(heads.is_number_integer() && heads.get<Index>() >= 1, "removal.prune",
                "must be numbers of at least 1");
      }
    }
    require(
        d_.reference.empty() || contains(names_, d_.reference), "reference",
        fmt::format("\"{}\" is not an arm{}", d_.reference, did_you_mean(d_.reference, names_)));
    for (const std::string& arm : d_.same_allocation_of) {
      require(contains(names_, arm), "same_allocation_of",
              fmt::format("\"{}\" is not an arm{}", arm, did_you_mean(arm, names_)));
    }
    require(std::set(d_.same_allocation_of.begin(), d_.same_allocation_of.end()).size() ==
                d_.same_allocation_of.size(),
            "same_allocation_of", "must list each arm once");
  }

  void check_measure(const std::string& measure) const {
    std::vector<std::string> known{"validation_loss"};
    for (const Measure& quality : quality_measures) known.emplace_back(quality.key);
    for (std::size_t i = 0, last = known.size(); i < last; ++i) {
      known.push_back("test." + (i == 0 ? "loss" : known[i]));
    }
    for (std::size_t i = 0, last = known.size(); i < last; ++i) known.push_back("cut." + known[i]);
    require(
        contains(known, measure), "measures",
        fmt::format("has \"{}\", which is not a measure{}", measure, did_you_mean(measure, known)));
  }

  void check_measures() const {
    require(!d_.measures.empty(), "measures", "must have at least one measure");
    for (const std::string& measure : d_.measures) {
      check_measure(measure);
      require(
          d_.folds <= 1 || measure.find("test.") != measure.npos, "measures",
          fmt::format("has \"{}\", but folds divide the test set: put test. before it", measure));
    }
    for (const std::string& measure : d_.contrasts.measures) {
      require(contains(d_.measures, measure), "contrasts.measures",
              fmt::format("has \"{}\", which is not in measures{}", measure,
                          did_you_mean(measure, d_.measures)));
    }
    std::vector<std::string> known = names_;
    for (const StudyControl control : d_.controls) known.emplace_back(name_of(control));
    check_against(known);
    require(d_.contrasts.correction == "holm", "contrasts.correction", "must be \"holm\"");
  }

  /// Requires names of arms and controls, or pairs of two different ones.
  void check_against(const std::vector<std::string>& known) const {
    const Record& against = d_.contrasts.against;
    const char* const where = "contrasts.against";
    const auto check_name = [&](const Record& name) {
      require(name.is_string(), where,
              "must be an arm or a control, a list of them, or a list of pairs of them: "
              "[\"random\", [\"arm\", \"other arm\"]]");
      const std::string text = name.get<std::string>();
      require(contains(known, text), where,
              fmt::format("is \"{}\", which is neither an arm nor a control of this study{}", text,
                          did_you_mean(text, known)));
    };
    require(!against.empty(), where, "must have at least one name or pair");
    for (const Record& part : against.is_array() ? against : Record::array({against})) {
      if (!part.is_array()) {
        check_name(part);
        continue;
      }
      require(part.size() == 2, where, fmt::format("has {}, which is no pair", part.dump()));
      for (const Record& name : part) check_name(name);
      require(part[0] != part[1], where, fmt::format("compares {} with itself", part[0].dump()));
    }
    require(!compared_pairs(d_).empty(), where, "compares no arm with another one");
  }

  const StudyDeclaration& d_;
  std::string origin_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> set_in_;
  std::set<std::string> in_levels_;  // options of named levels, which arms may override
};

}  // namespace

std::vector<Record> levels_of(const Record& value) {
  if (value.is_object()) {
    std::vector<Record> names;
    for (const auto& [name, options] : value.items()) names.emplace_back(name);
    return names;
  }
  return value.is_array() ? std::vector<Record>(value.begin(), value.end())
                          : std::vector<Record>(1, value);
}

GivenSettings options_of(const std::string& factor, const Record& levels, const Record& level) {
  if (!levels.is_object()) return {{factor, level}};
  GivenSettings options;
  for (const auto& [name, value] : levels.at(level.get<std::string>()).items()) {
    options[name] = value;
  }
  return options;
}

std::vector<std::pair<std::string, std::string>> allocations_of(const StudyDeclaration& d) {
  const std::string name = name_of(StudyControl::same_allocation);
  std::vector<std::pair<std::string, std::string>> all;
  if (d.same_allocation_of.empty()) all.emplace_back(d.reference, name);
  for (const std::string& arm : d.same_allocation_of) {
    all.emplace_back(arm, d.same_allocation_of.size() == 1 ? name : name + " of " + arm);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> compared_pairs(const StudyDeclaration& d) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto add = [&](const std::string& arm, const std::string& against) {
    const bool known =
        contains(pairs, std::pair(arm, against)) || contains(pairs, std::pair(against, arm));
    if (arm != against && !known) pairs.emplace_back(arm, against);
  };
  for (const Record& part : levels_of(d.contrasts.against)) {
    if (part.is_array()) {
      add(part.at(0).get<std::string>(), part.at(1).get<std::string>());
      continue;
    }
    for (const StudyArm& arm : arms_of(d)) add(arm.name, part.get<std::string>());
  }
  return pairs;
}

std::string reference_of(const StudyContrasts& contrasts) {
  const Record first = levels_of(contrasts.against).front();
  return (first.is_array() ? first.at(1) : first).get<std::string>();
}

std::string plain_text(const Record& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<StudyArm> arms_of(const StudyDeclaration& declaration) {
  std::vector<StudyArm> arms;
  for (const auto& [name, value] : declaration.arms.items()) {
    if (value.is_array()) {
      for (const Record& level : value) arms.push_back({plain_text(level), {{name, level}}});
    } else {
      StudyArm& arm = arms.emplace_back(StudyArm{name, {}});
      for (const auto& [option, word] : value.items()) arm.options[option] = word;
    }
  }
  return arms;
}

StudyDeclaration declaration_of(const Record& record, const std::string& origin) {
  StudyDeclaration declaration = struct_of<StudyDeclaration>(record, origin);
  Checker(declaration, origin).check();
  if (declaration.reference.empty()) declaration.reference = arms_of(declaration).front().name;
  if (declaration.contrasts.measures.empty()) {
    declaration.contrasts.measures = {declaration.measures.front()};
  }
  return declaration;
}

StudyDeclaration read_declaration(const std::filesystem::path& file) {
  return declaration_of(parse_json(read_file(file), file.string()), file.string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
