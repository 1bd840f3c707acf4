// What a run shows about its heads: which went, what it cost, where they look, how much they
// matter.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/findings.hpp"
#include "report/records.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double kept_share_apart = 0.25;  // kinds of attention whose kept shares differ by this
constexpr double notable_change = 0.05;    // of a step's time
constexpr double points_at_one = 0.6;      // mean of row maxima of a head that points
constexpr double strong_correlation = 0.7, rough_correlation = 0.4;  // see correlation_finding

/// Spearman's rank correlation; ties share their mean rank.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<double> result;
    for (const double v : values) {
      const auto less =
          std::count_if(values.begin(), values.end(), [v](double w) { return w < v; });
      const auto same = std::count(values.begin(), values.end(), v);
      result.push_back(static_cast<double>(less) + static_cast<double>(same + 1) / 2);
    }
    return result;
  };
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double mean = (static_cast<double>(a.size()) + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

bool removed(const Record& head) { return number_in(head, "removed_at").has_value(); }

std::string kind_name(const std::string& kind) {
  return kind == "cross" ? "cross-attention" : kind + " self-attention";
}

/// " Layer 0 lost 3, layer 1 lost 5."
std::string losses_by_layer(const Record& run) {
  std::map<Index, Index> lost;
  for (const Record& head : list_of(run, "heads"))
    lost[head["layer"].get<Index>()] += removed(head);
  std::vector<std::string> parts;
  for (const auto& [layer, heads] : lost)
    parts.push_back(fmt::format("layer {} lost {}", layer, heads));
  return fmt::format(" {}.", capital(fmt::format("{}", fmt::join(parts, ", "))));
}

}  // namespace

std::vector<Share> shares_of(const Record& run) {
  std::vector<Share> shares;
  for (const Record& head : list_of(run, "heads")) {
    const std::string kind = head["kind"].get<std::string>();
    auto found =
        std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.kind == kind; });
    if (found == shares.end()) found = shares.insert(shares.end(), {kind});
    ++found->all;
    if (!removed(head)) ++found->kept;
  }
  return shares;
}

Record heads_finding(const Record& run) {
  const std::vector<Share> shares = shares_of(run);
  if (shares.empty()) return {};
  Index kept = 0, all = 0;
  for (const Share& share : shares) {
    kept += share.kept;
    all += share.all;
  }
  const std::string look =
      "Numbers and colour are importance, 100 the most; a struck-out head was removed at the step "
      "below its number. Heads are numbered layer.head, from 0.";
  if (kept == all) return finding(fmt::format("All {} heads are alive", all), look);
  if (shares.size() == 1) {
    return finding(fmt::format("{} of {} heads were removed", all - kept, all),
                   look + losses_by_layer(run));
  }
  const auto by_share = [](const Share& a, const Share& b) { return a.share() < b.share(); };
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end(), by_share);
  if (high->share() - low->share() >= kept_share_apart) {
    return finding(
        fmt::format("{} keeps {} of {} heads, {} {} of {}", capital(kind_name(high->kind)),
                    high->kept, high->all, kind_name(low->kind),
                    low->kept == 0 ? "none" : fmt::format("only {}", low->kept), low->all),
        look);
  }
  return finding(
      fmt::format("No clear pattern: {} heads went, and no kind lost clearly more", all - kept),
      look + " Kinds count as different when their kept shares are 25 points apart.");
}

Record before_after_finding(const Record& run) {
  const Record& rows = list_of(run, "before_after");
  if (rows.size() < 2) return {};
  const Record &first = rows.front(), &last = rows.back();
  const std::string look =
      "Both rows are measured the same way. Exact match is on inputs never seen in training.";
  std::string quality;
  const auto q0 = range_in(first, "exact_match"), q1 = range_in(last, "exact_match");
  if (q0 && q1) {
    const double points = 100 * (q1->first - q0->first);
    quality = std::abs(points) < 0.05
                  ? ", exact match unchanged"
                  : fmt::format(", exact match {:.1f} points {}", std::abs(points),
                                points < 0 ? "lower" : "higher");
  }
  const auto t0 = number_in(first, "step_ms", "fused"), t1 = number_in(last, "step_ms", "fused");
  if (!t0 || !t1) return finding("Before and after" + quality, look);
  const double ratio = *t0 / *t1;
  if (ratio > 1 + notable_change) {
    return finding(fmt::format("A step is {:.2f} times faster{}", ratio, quality), look);
  }
  if (ratio < 1 - notable_change) {
    return finding(fmt::format("A step is {:.2f} times slower{}", 1 / ratio, quality), look);
  }
  return finding("No clear gain: a step takes as long as before" + quality,
                 look + " Less than 5 % counts as no change.");
}

Record maps_finding(const Record& run) {
  double best = 0;
  std::string sharpest;
  std::map<std::string, std::pair<double, Index>> sharpness;  // sum of row maxima, rows
  for (const Record& example : list_of(run, "examples")) {
    for (const Record& map : example["maps"]) {
      if (map["kind"] != "cross" && !list_of(example, "target").empty()) continue;
      auto& [sum, count] = sharpness[head_text(map)];
      for (const Record& row : map["rows"]) {
        double most = 0;
        for (const Record& w : row) most = std::max(most, w.is_number() ? w.get<double>() : 0.0);
        sum += most;
        ++count;
      }
    }
  }
  if (list_of(run, "examples").empty()) return {};
  for (const auto& [head, total] : sharpness) {
    const double mean = total.first / static_cast<double>(std::max<Index>(1, total.second));
    if (mean > best) {
      best = mean;
      sharpest = head;
    }
  }
  const std::string look =
      "A row is the symbol being written, a column the symbol that is read; stronger colour, more "
      "weight. Hover or focus a symbol to see its row in all heads, click to lock it. Grey maps "
      "are "
      "of removed heads, from before.";
  if (best >= points_at_one) {
    return finding(
        fmt::format("Head {} points: its largest weight is {:.2f} on average", sharpest, best),
        look);
  }
  return finding("No clear pattern: no head points at a single symbol",
                 look + " Pointing means a mean largest weight of at least 0.6.");
}

namespace {

/// A sentence for each strength of a rank correlation.
struct ByStrength {
  const char *strong, *rough, *weak;
};

/// The rank correlation of x and y in words. It is rough from 0.4 on, and beyond 2 / sqrt(n), which
/// n pairs without any relation reach in one of twenty cases.
Record correlation_finding(const std::vector<double>& x, const std::vector<double>& y,
                           const ByStrength& words, const std::string& look) {
  const double r = std::round(100 * rank_correlation(x, y)) / 100;  // as it is shown
  const double rough = std::max(rough_correlation, 2 / std::sqrt(static_cast<double>(x.size())));
  const char* sentence = r >= strong_correlation ? words.strong
                         : r >= rough            ? words.rough
                                                 : words.weak;
  const std::string clear =
      fmt::format(" A rank correlation from {} on would be a clear one.", strong_correlation);
  return finding(fmt::format("{} (rank correlation {:.2f})", sentence, r),
                 r >= strong_correlation ? look : look + clear);
}

}  // namespace

Record importance_finding(const Record& run, const std::vector<std::string>& models) {
  std::vector<double> importance, cost, first, second;
  std::vector<std::pair<double, bool>> went;
  for (const Record& head : list_of(run, "heads")) {
    const auto value = number_in(head, "importance", "");
    if (!value) continue;
    went.emplace_back(*value, removed(head));
    if (const auto c = number_in(head, "cost")) {
      importance.push_back(*value);
      cost.push_back(*c);
    }
    if (models.size() > 1 && head["importance"].is_object()) {
      const auto a = number_in(head["importance"], models[0].c_str());
      const auto b = number_in(head["importance"], models[1].c_str());
      if (a && b) {
        first.push_back(*a);
        second.push_back(*b);
      }
    }
  }
  if (went.empty()) return {};
  std::string look =
      fmt::format("Importance is {}. Look for struck-out heads near the bottom.",
                  run.value("importance_name", "how much the loss depends on a head"));
  if (cost.size() > 2) {
    look += fmt::format(" The cost of removing a head is {}.",
                        run.value("cost_name", "the rise of the loss without this head alone"));
    if (first.size() > 2) {
      look += fmt::format(" The layouts rank their heads with a correlation of {:.2f}.",
                          rank_correlation(first, second));
    }
    return correlation_finding(importance, cost,
                               {"Importance predicts what removing costs",
                                "Importance predicts only roughly what removing costs",
                                "No clear pattern: importance hardly predicts cost"},
                               look);
  }
  if (first.size() > 2) {
    return correlation_finding(first, second,
                               {"Both layouts agree on which heads matter",
                                "The layouts agree only roughly on which heads matter",
                                "No clear pattern: the layouts rank their heads differently"},
                               look);
  }
  std::sort(went.begin(), went.end());
  const auto gone = std::count_if(went.begin(), went.end(), [](const auto& h) { return h.second; });
  const auto low_gone =
      std::count_if(went.begin(), went.begin() + gone, [](const auto& h) { return h.second; });
  if (gone == 0) return finding("How much each head matters", look);
  return finding(fmt::format("{} of the {} removed heads were among the {} least important",
                             low_gone, gone, gone),
                 look);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
