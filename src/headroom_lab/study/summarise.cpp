// Means over seeds and paired contrasts.
#include <algorithm>
#include <set>
#include <utility>

#include "headroom/base/names.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/study/results.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The measure other than a loss that a name such as "cut.test.accuracy" ends with, or null.
const Measure* quality_of(const std::string& measure) {
  const std::string name = measure.substr(measure.rfind('.') + 1);
  const auto* const found = std::find_if(quality_measures.begin(), quality_measures.end(),
                                         [&](const Measure& one) { return name == one.key; });
  return found == quality_measures.end() ? nullptr : found;
}

/// The values of a seed in two means.
struct SeedPair {
  Index seed;
  double x, y;
};

std::vector<SeedPair> common_seeds(const StudyMean& x, const StudyMean& y) {
  std::vector<SeedPair> pairs;
  for (const SeedValue& a : x.seeds) {
    for (const SeedValue& b : y.seeds) {
      if (a.seed == b.seed) pairs.push_back({a.seed, a.value, b.value});
    }
  }
  return pairs;
}

class StudySummary {
 public:
  StudySummary(const StudyDeclaration& declaration, const StudyPlan& plan, StudyResults& results)
      : d_(declaration), plan_(plan), r_(results) {
    for (const CellResult& cell : r_.cells) cells_[cell.key] = &cell;
    for (const StudyCell& cell : plan.cells) planned_[cell.key] = &cell;
  }

  void summarise() {
    name_parts();
    for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
      for (const std::string& arm : plan_.arms) {
        for (const std::string& measure : d_.measures) add_mean(Index(c), arm, measure);
      }
    }
    for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
      for (const std::string& measure : d_.measures) add_contrasts(Index(c), measure);
    }
    adjust();
    add_effects();
    add_regret_contrasts();
  }

 private:
  void name_parts() {
    r_.declaration = json_of(d_);
    r_.precision = is_double ? "double" : "float";
    r_.cells_planned = Index(plan_.cells.size());
    for (const StudyCondition& condition : plan_.conditions) {
      r_.conditions.push_back(condition.text());
      r_.levels.push_back(condition.levels);
    }
    r_.arms = plan_.arms;
    const std::size_t declared = arms_of(d_).size();
    r_.controls.assign(plan_.arms.begin() + std::ptrdiff_t(declared), plan_.arms.end());
  }

  /// The runs of an arm or control by seed, for seeds whose runs are all done and have the measure.
  std::map<Index, std::vector<const CellResult*>> complete(Index condition, const std::string& arm,
                                                           const std::string& measure) const {
    std::map<Index, std::vector<const CellResult*>> seeds;
    std::set<Index> incomplete;
    for (const StudyEntry& entry : plan_.entries) {
      if (Index(entry.condition) != condition || entry.arm != arm) continue;
      const Index seed = planned_.at(entry.cell)->seed;
      const auto cell = cells_.find(entry.cell);
      if (cell == cells_.end() || !cell->second->measures.contains(measure)) {
        incomplete.insert(seed);
      } else {
        seeds[seed].push_back(cell->second);
      }
    }
    for (const Index seed : incomplete) seeds.erase(seed);
    return seeds;
  }

  void add_mean(Index condition, const std::string& arm, const std::string& measure) {
    const auto seeds = complete(condition, arm, measure);
    if (seeds.empty()) return;
    StudyMean mean{.condition = condition, .arm = arm, .measure = measure};
    std::vector<double> of_seeds, heads, parameters, products;
    std::map<std::string, std::vector<double>> kept;
    for (const auto& [seed, cells] : seeds) {
      std::vector<double> values;
      for (const CellResult* cell : cells) {
        values.push_back(cell->measures.at(measure));
        heads.push_back(double(cell->heads()));
        parameters.push_back(double(cell->parameters));
        products.push_back(cell->multiply_adds);
        for (const auto& [kind, count] : cell->kept) kept[kind].push_back(double(count));
      }
      mean.points.insert(mean.points.end(), values.begin(), values.end());
      of_seeds.push_back(mean_of(values));
      mean.seeds.push_back({seed, of_seeds.back()});
    }
    mean.heads = mean_of(heads);
    mean.parameters = mean_of(parameters);
    mean.multiply_adds = mean_of(products);
    for (const auto& [kind, counts] : kept) mean.kept[kind] = mean_of(counts);
    mean.mean = is_share(measure) ? share_interval(of_seeds) : mean_interval(of_seeds);
    r_.means.push_back(std::move(mean));
  }

  const StudyMean* mean(Index condition, const std::string& arm, const std::string& measure) const {
    const auto found = std::find_if(r_.means.begin(), r_.means.end(), [&](const StudyMean& m) {
      return m.condition == condition && m.arm == arm && m.measure == measure;
    });
    return found == r_.means.end() ? nullptr : &*found;
  }

  bool planned(Index condition, const std::string& arm) const {
    return std::any_of(plan_.entries.begin(), plan_.entries.end(), [&](const StudyEntry& entry) {
      return Index(entry.condition) == condition && entry.arm == arm;
    });
  }

  /// Adds all comparisons of a measure under a condition: the declared ones, against random heads
  /// of the same attentions, and against the model with all heads.
  void add_contrasts(Index condition, const std::string& measure) {
    std::set<std::pair<std::string, std::string>> known;
    const auto add = [&](const std::string& arm, const std::string& against, bool in_family) {
      if (arm == against || !planned(condition, arm) || !planned(condition, against)) return;
      if (!known.emplace(arm, against).second) return;
      add_contrast({condition, arm, against, measure, in_family});
    };
    for (const auto& [arm, against] : compared_pairs(d_)) {
      add(arm, against, in_family(condition, measure, arm));
    }
    for (const auto& [arm, control] : allocations_of(d_)) {
      add(arm, control, in_family(condition, measure, arm));
    }
    for (const std::string& control : r_.controls) {
      add(control, reference_of(d_.contrasts), false);
    }
    const std::string none = name_of(StudyControl::none);
    for (const std::string& arm : plan_.arms) add(arm, none, false);
  }

  bool in_family(Index condition, const std::string& measure, const std::string& arm) const {
    const std::vector<std::string>& tested = d_.contrasts.measures;
    if (std::find(tested.begin(), tested.end(), measure) == tested.end()) return false;
    GivenSettings levels = plan_.conditions[std::size_t(condition)].levels;
    for (const GivenSettings* factors : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      for (const auto& [name, value] : *factors) levels.emplace(name, levels_of(value).front());
    }
    levels["measure"] = measure;
    return rules_allow(d_.contrasts.only, levels, "arm", arm);
  }

  void add_contrast(StudyContrast contrast) {
    if (contrast.in_family) ++r_.family;
    const StudyMean *x = mean(contrast.condition, contrast.arm, contrast.measure),
                    *y = mean(contrast.condition, contrast.against, contrast.measure);
    if (x == nullptr || y == nullptr) return;
    std::vector<double> of_x, of_y;
    for (const SeedPair& pair : common_seeds(*x, *y)) {
      of_x.push_back(pair.x);
      of_y.push_back(pair.y);
      contrast.seeds.push_back({pair.seed, pair.x - pair.y});
    }
    if (of_x.empty()) return;
    const PairedContrast paired = paired_contrast(of_x, of_y);
    contrast.difference = paired.mean;
    contrast.interval = paired.interval;
    contrast.p = paired.p;
    r_.contrasts.push_back(std::move(contrast));
  }

  /// Applies Holm's correction to the comparisons of the family that have a p. The others, also
  /// those that are not done, count with p = 1, so that no corrected p falls when they get one.
  void adjust() {
    std::vector<StudyContrast*> tested;
    std::vector<double> p;
    for (StudyContrast& contrast : r_.contrasts) {
      if (!contrast.in_family || !contrast.p) continue;
      tested.push_back(&contrast);
      p.push_back(*contrast.p);
    }
    p.resize(std::size_t(r_.family), 1.0);
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->holm = adjusted[i];
  }

  void add_effects() {
    std::set<std::string> factors;
    for (const StudyCondition& condition : plan_.conditions) {
      for (const auto& [name, level] : condition.levels) factors.insert(name);
    }
    factors.erase("prune");
    for (const std::string& factor : factors) {
      const std::vector<Record> levels = levels_of_factor(factor);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          for (const std::string& measure : d_.measures) {
            add_effect(factor, levels[i], levels[j], measure);
          }
        }
      }
    }
  }

  std::vector<Record> levels_of_factor(const std::string& factor) const {
    for (const GivenSettings* words : {&d_.trunk.factors, &d_.factors, &d_.removal}) {
      const auto found = words->find(factor);
      if (found != words->end()) return levels_of(found->second);
    }
    return {};
  }

  void add_effect(const std::string& factor, const Record& level, const Record& against,
                  const std::string& measure) {
    std::map<Index, std::vector<double>> of_level, of_other;  // by seed
    Index pairs = 0;
    for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
      if (plan_.conditions[c].levels.at(factor) != level) continue;
      GivenSettings other = plan_.conditions[c].levels;
      other[factor] = against;
      const auto twin = std::find_if(plan_.conditions.begin(), plan_.conditions.end(),
                                     [&](const StudyCondition& k) { return k.levels == other; });
      if (twin == plan_.conditions.end()) continue;
      for (const std::string& arm : plan_.arms) {
        const bool control =
            std::find(r_.controls.begin(), r_.controls.end(), arm) != r_.controls.end();
        if (control && arm != name_of(StudyControl::random)) continue;
        const StudyMean *x = mean(Index(c), arm, measure),
                        *y = mean(twin - plan_.conditions.begin(), arm, measure);
        if (x == nullptr || y == nullptr) continue;
        const std::vector<SeedPair> both = common_seeds(*x, *y);
        if (!both.empty()) ++pairs;
        for (const SeedPair& pair : both) {
          of_level[pair.seed].push_back(pair.x);
          of_other[pair.seed].push_back(pair.y);
        }
      }
    }
    StudyEffect effect{factor, plain_text(level), plain_text(against), measure};
    effect.pairs = pairs;
    std::vector<double> of_x, of_y;
    for (const auto& [seed, all] : of_level) {
      if (Index(all.size()) != pairs) continue;  // means over other pairs cannot be compared
      of_x.push_back(mean_of(all));
      of_y.push_back(mean_of(of_other.at(seed)));
      effect.seeds.push_back({seed, of_x.back() - of_y.back()});
    }
    if (of_x.empty()) return;
    const PairedContrast paired = paired_contrast(of_x, of_y);
    effect.difference = paired.mean;
    effect.interval = paired.interval;
    effect.p = paired.p;
    r_.effects.push_back(std::move(effect));
  }

  /// Compares all candidates with each other: whichever is called the best was chosen by its
  /// regret.
  void add_regret_contrasts() {
    std::vector<std::string> metrics;
    std::map<std::string, std::map<Index, std::vector<double>>> all;  // by metric and seed
    for (const StudyRegret& regret : r_.regret) {
      if (!regret.candidate) continue;
      if (!all.contains(regret.metric)) metrics.push_back(regret.metric);
      for (const SeedValue& seed : regret.seeds) {
        all[regret.metric][seed.seed].push_back(seed.value);
      }
    }
    std::vector<std::size_t> tested;
    std::vector<double> p;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        std::vector<double> x, y;
        for (const auto& [seed, values] : all[metrics[i]]) {
          const auto other = all[metrics[j]].find(seed);
          // Both have the same games and numbers of heads, unless one has no scores in a seed.
          if (other == all[metrics[j]].end() || other->second.size() != values.size()) continue;
          x.push_back(mean_of(values));
          y.push_back(mean_of(other->second));
        }
        if (x.empty()) continue;
        const PairedContrast paired = paired_contrast(x, y);
        if (paired.p) {
          tested.push_back(r_.regret_contrasts.size());
          p.push_back(*paired.p);
        }
        r_.regret_contrasts.push_back({metrics[i], metrics[j], paired.mean, paired.interval,
                                       paired.p, std::nullopt, std::ssize(x)});
      }
    }
    p.resize(r_.regret_contrasts.size(), 1.0);
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < tested.size(); ++i) {
      r_.regret_contrasts[tested[i]].holm = adjusted[i];
    }
  }

  const StudyDeclaration& d_;
  const StudyPlan& plan_;
  StudyResults& r_;
  std::map<std::string, const CellResult*> cells_;
  std::map<std::string, const StudyCell*> planned_;
};

}  // namespace

bool is_share(const std::string& measure) { return quality_of(measure) != nullptr; }

bool higher_is_better(const std::string& measure) {
  const Measure* const quality = quality_of(measure);
  return quality != nullptr && quality->higher_is_better;  // not losses
}

void summarise(const StudyDeclaration& declaration, const StudyPlan& plan, StudyResults& results) {
  StudySummary(declaration, plan, results).summarise();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
