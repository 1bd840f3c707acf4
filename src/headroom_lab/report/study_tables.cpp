// The tables of a study's sections: numbers and intervals, shares in percent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headroom/base/names.hpp"
#include "headroom_lab/report/study.hpp"
#include "report/study_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A measure's number as tables show it.
double shown_number(double value, double scale) {
  // 100 times a share of few digits has few digits, too.
  return scale == 1 ? value : std::round(value * scale * 1e10) / 1e10;
}
Interval shown_interval(const Interval& interval, double scale) {
  return {shown_number(interval.value, scale), shown_number(interval.low, scale),
          shown_number(interval.high, scale)};
}

/// A number with its interval, if the values vary.
Value with_interval(const Interval& interval, double scale = 1) {
  const Interval shown = shown_interval(interval, scale);
  return interval.low == interval.high ? Value(shown.value) : Value(shown);
}

/// The difference of a contrast or an effect.
template <class Contrast>
Value difference_of(const Contrast& contrast) {
  const double scale = scale_of(contrast.measure);
  if (!contrast.interval) return shown_number(contrast.difference, scale);
  return shown_interval(*contrast.interval, scale);
}

Value number(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

constexpr const char* forward_pass = "forward pass (ms)";

/// A square or rectangle of values between named rows and columns; empty cells are unknown.
class Matrix {
 public:
  void set(const std::string& row, const std::string& column, Value value) {
    cells_[{index(rows_, row), index(columns_, column)}] = std::move(value);
  }
  Table table(Text title, const char* shown) const {
    Table table{.shown = shown, .title = std::move(title), .columns = {""}};
    table.columns.insert(table.columns.end(), columns_.begin(), columns_.end());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::vector<Value>& row = table.rows.emplace_back(1, rows_[r]);
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const auto cell = cells_.find({r, c});
        row.push_back(cell == cells_.end() ? Value() : cell->second);
      }
    }
    return table;
  }

 private:
  static std::size_t index(std::vector<std::string>& names, const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    const auto index = std::size_t(at - names.begin());
    if (at == names.end()) names.push_back(name);
    return index;
  }
  std::vector<std::string> rows_, columns_;
  std::map<std::pair<std::size_t, std::size_t>, Value> cells_;
};

/// Computes the tables of the sections.
class StudyTables {
 public:
  explicit StudyTables(const StudyResults& results)
      : r_(results), first_(r_.declaration.at("measures").at(0).get<std::string>()) {
    for (const char* kind : {"encoder", "decoder", "cross"}) {
      if (std::any_of(r_.means.begin(), r_.means.end(),
                      [&](const StudyMean& mean) { return mean.kept.contains(kind); })) {
        kinds_.emplace_back(kind);
      }
    }
  }

  std::vector<std::vector<Table>> all() const {
    return {{agreement()}, {heads_left()}, {means()},   regret(),    {fewest()},
            {sizes()},     comparisons(),  {effects()}, {by_seed()}, {acceptable()}};
  }

 private:
  std::string condition(Index index) const {
    const std::string& text = r_.conditions[std::size_t(index)];
    return text.empty() ? "the only condition" : text;
  }

  Table agreement() const {
    Matrix pairs;
    for (const StudyAgreement& pair : r_.agreement) {
      pairs.set(pair.x, pair.y, pair.correlation ? with_interval(*pair.correlation) : Value());
    }
    return pairs.table("Rank correlations of metrics", "high");
  }

  Table heads_left() const {
    Table table{
        .shown = "folded", .title = "Heads left", .columns = {"condition", "arm", "runs", "heads"}};
    table.columns.insert(table.columns.end(), kinds_.begin(), kinds_.end());
    for (const StudyMean& mean : r_.means) {
      if (mean.measure != first_) continue;
      table.rows.push_back(
          {condition(mean.condition), mean.arm, std::ssize(mean.points), mean.heads});
      for (const std::string& kind : kinds_) {
        const auto kept = mean.kept.find(kind);
        table.rows.back().push_back(kept == mean.kept.end() ? 0.0 : kept->second);
      }
    }
    return table;
  }

  Table means() const {
    Table table{.shown = "folded",
                .title = "Means over seeds",
                .columns = {"condition", "arm", "measure", "heads", "parameters", "multiply-adds"}};
    const bool timed = !r_.provenance.latency.milliseconds.empty();
    if (timed) table.columns.emplace_back(forward_pass);
    table.columns.insert(table.columns.end(), {"seeds", "mean"});
    for (const StudyMean& mean : r_.means) {
      table.rows.push_back({condition(mean.condition), mean.arm, measure_title(mean.measure),
                            mean.heads, mean.parameters, mean.multiply_adds});
      std::vector<Value>& row = table.rows.back();
      if (timed) row.push_back(number(latency_of(r_, cells_of(r_, mean.condition, mean.arm))));
      row.insert(row.end(),
                 {Value(std::ssize(mean.seeds)), with_interval(mean.mean, scale_of(mean.measure))});
    }
    return table;
  }

  std::vector<Table> regret() const {
    std::vector<StudyRegret> all = r_.regret;
    std::stable_sort(all.begin(), all.end(), [](const StudyRegret& a, const StudyRegret& b) {
      return a.kept < b.kept;  // the columns ascend
    });
    std::map<std::string, Matrix> games;
    for (const StudyRegret& regret : r_.regret) games.try_emplace(regret.game);
    for (const StudyRegret& regret : all) {
      games[regret.game].set(regret.metric, std::to_string(regret.kept),
                             with_interval(regret.regret));
    }
    std::vector<Table> tables;
    for (const auto& [game, matrix] : games) {
      tables.push_back(matrix.table(
          sentence("Regret in the game of {}, by the number of heads kept", game), "low"));
    }
    return tables;
  }

  Table fewest() const {
    Table table{.title = "Fewest acceptable heads", .columns = {"arm"}};
    const std::vector<StudyGroup> groups = groups_of(r_);
    for (const StudyGroup& group : groups) {
      table.columns.push_back(group.text.empty() ? "heads" : group.text);
    }
    for (const std::string& arm : r_.arms) {
      if (std::find(r_.controls.begin(), r_.controls.end(), arm) != r_.controls.end()) continue;
      table.rows.push_back({arm});
      for (const StudyGroup& group : groups) table.rows.back().push_back(fewest(arm, group));
    }
    return table;
  }
  Value fewest(const std::string& arm, const StudyGroup& group) const {
    double heads = std::numeric_limits<double>::infinity();
    for (const AcceptableLoss& loss : acceptable_losses(r_)) {
      if (loss.arm == arm && group.has(loss.condition)) heads = std::min(heads, loss.heads);
    }
    if (std::isfinite(heads)) return heads;
    Index tried = 0, decided = 0;
    for (const StudyContrast* contrast : from_all_heads(r_)) {
      if (contrast->arm != arm || !group.has(contrast->condition)) continue;
      ++tried;
      if (contrast->decides() && study_warning(r_).empty()) ++decided;
    }
    return tried > 0 && decided == tried ? "–" : "unknown";
  }

  Table sizes() const {
    // The key is the numbers of heads, of parameters and of multiply-adds.
    std::map<std::tuple<Index, Index, double>, std::vector<std::string>> runs;
    Index most = 1;
    double most_products = 1;
    for (const CellResult& cell : r_.cells) {
      runs[{cell.heads(), cell.parameters, cell.multiply_adds}].push_back(cell.key);
      most = std::max(most, cell.parameters);
      most_products = std::max(most_products, cell.multiply_adds);
    }
    Table table{.title = "Sizes of the models",
                .columns = {"heads left", "parameters", "share (%)", "multiply-adds",
                            "their share (%)", "runs"}};
    const bool timed = !r_.provenance.latency.milliseconds.empty();
    if (timed) table.columns.emplace_back(forward_pass);
    for (auto size = runs.rbegin(); size != runs.rend(); ++size) {
      const auto [heads, parameters, products] = size->first;
      table.rows.push_back({heads, parameters, 100 * double(parameters) / double(most), products,
                            100 * products / most_products, std::ssize(size->second)});
      if (timed) table.rows.back().push_back(number(latency_of(r_, size->second)));
    }
    return table;
  }

  std::vector<Table> comparisons() const {
    std::vector<const StudyContrast*> sorted;
    for (const StudyContrast& contrast : r_.contrasts) sorted.push_back(&contrast);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const StudyContrast* a, const StudyContrast* b) {
                       const auto key = [](const StudyContrast* contrast) {
                         return std::pair(contrast->holm.value_or(2), contrast->p.value_or(2));
                       };
                       return key(a) < key(b);
                     });
    const std::vector<std::string> columns{"arm",        "against", "condition", "measure",
                                           "difference", "seeds",   "p"};
    Table family{.title = "Comparisons of the family", .columns = columns};
    family.columns.emplace_back("p after Holm");
    Table others{
        .shown = "folded", .title = "Other comparisons, not corrected", .columns = columns};
    for (const StudyContrast* contrast : sorted) {
      Table& table = contrast->in_family ? family : others;
      table.rows.push_back({contrast->arm, contrast->against, condition(contrast->condition),
                            measure_title(contrast->measure), difference_of(*contrast),
                            std::ssize(contrast->seeds), number(contrast->p)});
      if (contrast->in_family) table.rows.back().push_back(number(contrast->holm));
    }
    return {family, others};
  }

  Table effects() const {
    Table table{
        .title = "Effects of factors",
        .columns = {"factor", "level", "against", "measure", "difference", "p", "means compared"}};
    for (const StudyEffect& effect : r_.effects) {
      table.rows.push_back({effect.factor, effect.level, effect.against,
                            measure_title(effect.measure), difference_of(effect), number(effect.p),
                            effect.pairs});
    }
    return table;
  }

  Table by_seed() const {
    std::set<Index> seeds;
    for (const StudyMean& mean : r_.means) {
      for (const SeedValue& seed : mean.seeds) seeds.insert(seed.seed);
    }
    Table table{.shown = "folded",
                .title = sentence("Values of {} by seed", measure_title(first_)),
                .columns = {"condition", "arm"}};
    for (const Index seed : seeds) table.columns.push_back(fmt::format("seed {}", seed));
    for (const StudyMean& mean : r_.means) {
      if (mean.measure != first_) continue;
      std::vector<Value>& row = table.rows.emplace_back();
      row = {condition(mean.condition), mean.arm};
      for (const Index seed : seeds) {
        const auto own = std::find_if(mean.seeds.begin(), mean.seeds.end(),
                                      [&](const SeedValue& value) { return value.seed == seed; });
        row.push_back(own == mean.seeds.end() ? Value()
                                              : shown_number(own->value, scale_of(first_)));
      }
    }
    return table;
  }

  /// The values that made the choice, and those on the test set if they are others.
  Table acceptable() const {
    constexpr std::size_t most = 12;
    std::vector<std::string> measures{choice_measure(r_)};
    if (report_measure(r_) != measures[0]) measures.push_back(report_measure(r_));
    Table table{.title = "Smallest acceptable models", .columns = {"arm", "condition", "heads"}};
    for (const std::string& measure : measures) {
      table.columns.push_back(measure_title(measure));
      table.columns.push_back(table.columns.size() == 4 ? "difference from all heads"
                                                        : "difference on the test set");
    }
    for (const AcceptableLoss& loss : acceptable_losses(r_)) {
      if (table.rows.size() == most) break;
      std::vector<Value>& row = table.rows.emplace_back(
          std::vector<Value>{loss.arm, condition(loss.condition), loss.heads});
      for (const std::string& measure : measures) {
        row.push_back(mean_of(loss, measure));
        row.push_back(from_all(loss, measure));
      }
    }
    return table;
  }
  Value mean_of(const AcceptableLoss& loss, const std::string& measure) const {
    for (const StudyMean& mean : r_.means) {
      if (mean.condition != loss.condition || mean.arm != loss.arm) continue;
      if (mean.measure == measure) return with_interval(mean.mean, scale_of(measure));
    }
    return {};
  }
  Value from_all(const AcceptableLoss& loss, const std::string& measure) const {
    for (const StudyContrast& contrast : r_.contrasts) {
      if (contrast.condition != loss.condition || contrast.arm != loss.arm) continue;
      if (contrast.measure == measure && contrast.against == name_of(StudyControl::none)) {
        return difference_of(contrast);
      }
    }
    return {};
  }

  const StudyResults& r_;
  std::string first_;
  std::vector<std::string> kinds_;
};

}  // namespace

std::vector<std::vector<Table>> study_tables(const StudyResults& results) {
  std::vector<std::vector<Table>> sections = StudyTables(results).all();
  for (std::vector<Table>& tables : sections) {
    std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  }
  return sections;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
