// Findings about a run's heads: removal, attention patterns, importance.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "headroom/base/at.hpp"
#include "headroom/base/text.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/ranks.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double rare = 0.05;          // probability below which chance is no explanation
constexpr double points_at_one = 0.6;  // mean of row maxima of a head that points
constexpr Index fewest_keys = 3;       // of a row that is counted: a single key always has weight 1
constexpr double strong_correlation = 0.7, rough_correlation = 0.4;  // see correlation_finding

std::string kind_name(AttentionKind kind) {
  return kind == AttentionKind::cross ? "cross-attention"
                                      : std::string(name_of(kind)) + " self-attention";
}

std::string layer_name(const HeadRecord& head) { return fmt::format("layer {}", head.id.layer); }

/// Heads of one kind of attention or of one layer: their number, and that of the live ones.
struct Group {
  std::string name;
  Index kept = 0, all = 0;
  double share() const { return double(kept) / double(all); }
};

template <class NameOf>
std::vector<Group> groups_of(const ReportRecord& run, const NameOf& name_of_group) {
  std::vector<Group> groups;
  for (const HeadRecord& head : run.heads) {
    const std::string name = name_of_group(head);
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& group) { return group.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name});
    ++found->all;
    if (!head.removed_at) ++found->kept;
  }
  return groups;
}

/// " Layer 0 lost 3, layer 1 lost 5."
std::string losses_by_layer(const ReportRecord& run) {
  std::map<Index, Index> lost;
  for (const HeadRecord& head : run.heads) lost[head.id.layer] += head.removed_at.has_value();
  std::vector<std::string> parts;
  for (const auto& [layer, heads] : lost)
    parts.push_back(fmt::format("layer {} lost {}", layer, heads));
  return fmt::format(" {}.", capital(fmt::format("{}", fmt::join(parts, ", "))));
}

/// log of the number of ways to choose k of n.
double log_choose(Index n, Index k) {
  const auto log_factorial = [](Index m) { return std::lgamma(double(m) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// The ways to keep `left` heads with a share within [low, high] of every group, divided by 2^n for
/// n heads, so that they fit a double.
double ways_within(const std::vector<Group>& groups, Index left, double low, double high) {
  std::vector<double> ways{1};  // by the number of heads kept in the groups so far
  for (const Group& group : groups) {
    std::vector<double> more(ways.size() + std::size_t(group.all), 0.0);
    for (Index kept = 0; kept <= group.all; ++kept) {
      const double share = double(kept) / double(group.all);
      if (share < low || share > high) continue;
      const double here = std::exp(log_choose(group.all, kept) - double(group.all) * std::log(2.0));
      for (std::size_t i = 0; i < ways.size(); ++i) more[i + std::size_t(kept)] += ways[i] * here;
    }
    ways = std::move(more);
  }
  return at(ways, left);
}

/// The probability that a random choice of as many heads leaves kept shares that are at least
/// `spread` apart.
double chance_of(const std::vector<Group>& groups, double spread) {
  constexpr double tiny = 1e-9;  // shares this far apart are different
  Index left = 0;
  std::set<double> shares;  // that a group can have
  for (const Group& group : groups) {
    left += group.kept;
    for (Index kept = 0; kept <= group.all; ++kept) shares.insert(double(kept) / double(group.all));
  }
  double closer = 0;  // the ways with a smaller spread, by their smallest share
  for (const double low : shares) {
    const double high = low + spread - tiny;
    closer += ways_within(groups, left, low, high) - ways_within(groups, left, low + tiny, high);
  }
  return std::max(0.0, 1 - closer / ways_within(groups, left, 0, 1));
}

/// One way to group the heads, and how unequal removal left the groups.
struct Division {
  const char* plural;    // "kinds of attention"
  const char* singular;  // "kind"
  std::vector<Group> groups;

  std::pair<Group, Group> extremes() const {  // the smallest share first
    const auto [low, high] =
        std::minmax_element(groups.begin(), groups.end(),
                            [](const Group& a, const Group& b) { return a.share() < b.share(); });
    return {*low, *high};
  }
  double chance() const {
    const auto [low, high] = extremes();
    return chance_of(groups, high.share() - low.share());
  }
  /// "cross-attention keeps 8 of 8 heads, encoder self-attention only 2 of 8"
  std::string pattern() const {
    const auto [low, high] = extremes();
    return fmt::format("{} keeps {} of {} heads, {} {} of {}", high.name, high.kept, high.all,
                       low.name, low.kept == 0 ? "none" : fmt::format("only {}", low.kept),
                       low.all);
  }
};

}  // namespace

MaybeFinding heads_finding(const ReportRecord& run) {
  if (run.heads.empty()) return {};
  const auto all = Index(run.heads.size()), gone = removed_heads(run);
  const std::string caption =
      "The number and colour of a head are its importance, 100 the maximum; a struck-out head was "
      "removed at the step below its number. Heads are numbered layer.head, from 0.";
  if (gone == 0) return Finding{fmt::format("All {} heads are alive", all), caption};
  std::vector<Division> divisions{
      {"kinds of attention", "kind",
       groups_of(run, [](const HeadRecord& head) { return kind_name(head.id.kind); })},
      {"layers", "layer", groups_of(run, layer_name)}};
  std::erase_if(divisions, [](const Division& division) { return division.groups.size() < 2; });
  if (divisions.empty())
    return Finding{fmt::format("{} of {} heads were removed", gone, all), caption};
  std::vector<double> chances;
  std::vector<std::string> cases, singulars, clear;
  for (const Division& division : divisions) {
    chances.push_back(division.chance());
    cases.push_back(fmt::format("the {} in {} of cases", division.plural, percent(chances.back())));
    singulars.emplace_back(division.singular);
  }
  const std::vector<double> adjusted = holm(chances);
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    if (adjusted[i] < rare) clear.push_back(divisions[i].pattern());
  }
  const std::string by_chance = fmt::format(
      "{} A random choice of as many heads leaves at least this unequal {}; below 5 %{} counts as "
      "a difference.",
      losses_by_layer(run), fmt::join(cases, ", "),
      divisions.size() > 1 ? " after Holm's correction for two tests" : "");
  return Finding{
      clear.empty()
          ? fmt::format("No clear pattern: {} heads were removed, from no {} clearly more", gone,
                        fmt::join(singulars, " or "))
          : capital(fmt::format("{}", fmt::join(clear, "; "))),
      caption + by_chance};
}

MaybeFinding maps_finding(const ReportRecord& run) {
  if (run.examples.empty()) return {};
  std::map<HeadId, std::pair<double, Index>> sharpness;  // sum of row maxima, rows
  for (const ExampleRecord& example : run.examples) {
    const bool has_cross = !example.source.empty() && !example.target.empty();
    for (const MapRecord& map : example.maps) {
      if (has_cross && map.id.kind != AttentionKind::cross) continue;
      for (std::size_t i = 0; i < map.rows.size(); ++i) {
        const auto visible =
            Index(map.id.kind == AttentionKind::decoder_self ? i + 1 : map.rows[i].size());
        if (visible < fewest_keys) continue;
        double most = 0;
        for (const double weight : map.rows[i]) most = std::max(most, weight);
        auto& [sum, count] = sharpness[map.id];
        sum += most;
        ++count;
      }
    }
  }
  double best = 0;
  std::string sharpest;
  for (const auto& [head, total] : sharpness) {
    const double mean = total.first / double(total.second);
    if (mean <= best) continue;
    best = mean;
    sharpest = head.text();
  }
  const std::string caption =
      "A row is the token being predicted, a column a token it attends to; a stronger colour is a "
      "larger weight. Hover or focus a token to see its row in all heads, click to lock it. Grey "
      "maps are of removed heads, from before their removal.";
  const std::string rule = fmt::format(
      " The mean is over rows with at least {} keys; from {} on a head counts as pointing.",
      fewest_keys, points_at_one);
  if (best >= points_at_one) {
    return Finding{
        fmt::format("Head {} points: its largest weight is {:.2f} on average", sharpest, best),
        caption + rule};
  }
  if (sharpness.empty()) return Finding{"Attention maps", caption};
  return Finding{"No clear pattern: no head points at a single token", caption + rule};
}

Finding correlation_finding(const std::vector<double>& x, const std::vector<double>& y,
                            const ByStrength& words, const std::string& caption) {
  const double r = std::round(100 * rank_correlation(x, y)) / 100;  // rounded as displayed
  const double by_chance = 2 / std::sqrt(double(x.size()));
  const double clear = std::max(strong_correlation, by_chance);
  const std::string& sentence = clear > 1                                     ? words.few
                                : r >= clear                                  ? words.strong
                                : r <= -clear                                 ? words.opposite
                                : r >= std::max(rough_correlation, by_chance) ? words.rough
                                                                              : words.weak;
  const std::string rule =
      clear <= 1 ? fmt::format(" A rank correlation of {:.2g} or more would be clear.", clear)
                 : fmt::format(" {} heads are too few for a clear rank correlation.", x.size());
  return {fmt::format("{} (rank correlation {:.2f})", sentence, r),
          std::abs(r) >= clear ? caption : caption + rule};
}

MaybeFinding importance_finding(const ReportRecord& run, const std::vector<std::string>& models) {
  std::vector<double> importance, cost, first, second;
  std::vector<std::pair<double, std::string>> ranking;
  for (const HeadRecord& head : run.heads) {
    const auto value = head.importance.mean();
    if (!value) continue;
    ranking.emplace_back(*value, head.id.text());
    if (head.cost && std::isfinite(*head.cost)) {
      importance.push_back(*value);
      cost.push_back(*head.cost);
    }
    if (models.size() < 2 || !head.importance.by_model()) continue;
    const auto a = head.importance.of(models[0]), b = head.importance.of(models[1]);
    if (!a || !b) continue;
    first.push_back(*a);
    second.push_back(*b);
  }
  if (ranking.empty()) return {};
  std::string caption = fmt::format(
      "Importance is {}. Removed heads are struck out.",
      run.importance_name.empty() ? "how much the loss depends on a head" : run.importance_name);
  if (cost.size() > 2) {
    caption += fmt::format(
        " The cost of removing a head is {}.",
        run.cost_name.empty() ? "the rise of the loss without this head alone" : run.cost_name);
    if (first.size() > 2) {
      caption += fmt::format(" The layouts rank their heads with a correlation of {:.2f}.",
                             rank_correlation(first, second));
    }
    return correlation_finding(importance, cost,
                               {"Importance predicts the cost of removal",
                                "Importance predicts the cost of removal only roughly",
                                "No clear relation between importance and the cost of removal",
                                "The less important a head, the higher the cost of its removal",
                                "Too few heads to compare importance with the cost of removal"},
                               caption);
  }
  if (first.size() > 2) {
    return correlation_finding(
        first, second,
        {"Both layouts rank the heads alike", "The layouts rank the heads only roughly alike",
         "No clear relation between the layouts' rankings of the heads",
         "The layouts rank the heads in opposite orders",
         "Too few heads to compare the layouts' rankings"},
        caption);
  }
  std::vector<double> values;
  for (const auto& [value, head] : ranking) values.push_back(value);
  const auto& [most, head] = *std::max_element(ranking.begin(), ranking.end());
  return Finding{fmt::format("Head {} is the most important: {:.2g}, the median is {:.2g}", head,
                             most, median(values)),
                 caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
