// The findings of a study: sentences computed from its results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "headroom/lab/text.hpp"
#include "headroom/report/study.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/measures.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double significance = 0.05;  // of tests

bool is_share(const std::string& measure) {
  const std::string name = measure.substr(measure.rfind('.') + 1);
  return std::any_of(quality_measures.begin(), quality_measures.end(),
                     [&](const Measure& quality) { return name == quality.key; });
}

std::string quality_text(double value, const std::string& measure) {
  return is_share(measure) ? fmt::format("{:.1f} %", 100 * value) : figure_text(value);
}

std::string interval_text(const Interval& i, const std::string& measure) {
  if (!is_share(measure)) {
    return fmt::format("{} [{}, {}]", figure_text(i.value), figure_text(i.low),
                       figure_text(i.high));
  }
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * i.value, 100 * i.low, 100 * i.high);
}

std::string counted(Index count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Computes the texts of the sections.
class StudyFindings {
 public:
  explicit StudyFindings(const StudyResults& results)
      : r_(results),
        first_(r_.declaration.at("measures").at(0).get<std::string>()),
        acceptable_(r_.declaration.value("acceptable_loss", 0.01)) {}

  std::vector<StudySection> sections() const {
    return {{"Attention head scores", scores()},    {"Pruning candidates", candidates()},
            {"Model performance", performance()},   {"Importance vs. performance", importance()},
            {"Threshold selection", threshold()},   {"Pruning and speed evaluation", speed()},
            {"Comparative analysis", comparison()}, {"Iterative refinement", refinement()},
            {"Cross-validation", validation()},     {"Reporting and decision", decision()}};
  }

 private:
  std::string under(Index condition) const {
    const std::string& text = r_.conditions[std::size_t(condition)];
    return text.empty() ? "" : " (" + text + ")";
  }

  bool is_control(const std::string& arm) const {
    return std::find(r_.controls.begin(), r_.controls.end(), arm) != r_.controls.end();
  }

  Finding scores() const {
    const StudyAgreement *most = nullptr, *least = nullptr;
    std::set<std::string> metrics;
    for (const StudyAgreement& pair : r_.agreement) {
      metrics.insert(pair.x);
      if (pair.x >= pair.y) continue;
      if (most == nullptr || pair.correlation.value > most->correlation.value) most = &pair;
      if (least == nullptr || pair.correlation.value < least->correlation.value) least = &pair;
    }
    const std::string caption =
        "Spearman's rank correlation between the scores of all heads by two metrics, at the end of "
        "the trunk: 1 means the same order, 0 means unrelated orders. The cells show the mean over "
        "seeds. The table of values has its 95 % t-interval, too.";
    if (most == nullptr) {
      return {metrics.empty() ? "No heads have been scored yet" : "One metric scores the heads",
              caption};
    }
    return {
        fmt::format("{} metrics score the heads: {} and {} agree most ({:.2f}), {} and {} least "
                    "({:.2f})",
                    metrics.size(), most->x, most->y, most->correlation.value, least->x, least->y,
                    least->correlation.value),
        caption};
  }

  Finding candidates() const {
    return {fmt::format("{} of {} runs are done: {}, {}, {}", r_.cells.size(), r_.cells_planned,
                        counted(Index(r_.conditions.size()), "condition", "conditions"),
                        counted(Index(r_.arms.size() - r_.controls.size()), "arm", "arms"),
                        counted(Index(r_.controls.size()), "control", "controls")),
            "The number of heads left, in all and of each kind of attention: the mean over the "
            "runs of an arm or control."};
  }

  Finding performance() const {
    std::map<std::string, Index> best;
    Index conditions = 0;
    for (Index c = 0; c < Index(r_.conditions.size()); ++c) {
      std::vector<const StudyMean*> means;
      for (const StudyMean& mean : r_.means) {
        if (mean.condition != c || mean.measure != first_) continue;
        if (!is_control(mean.arm) || mean.arm == "random") means.push_back(&mean);
      }
      if (means.size() < 2) continue;
      ++conditions;
      std::partial_sort(means.begin(), means.begin() + 2, means.end(),
                        [this](const StudyMean* a, const StudyMean* b) {
                          return better(a->mean.value, b->mean.value);
                        });
      const bool tied = means[0]->mean.value == means[1]->mean.value;
      if (!tied) ++best[means[0]->arm];
    }
    const std::string caption = fmt::format(
        "{} against the number of heads left. The lines show the mean over seeds with its 95 % "
        "t-interval, the points show every run. Random heads are drawn several times for each "
        "seed, and the draws are averaged first. Every chart shows random heads in grey.",
        capitalised(measure_in_words(first_)));
    if (best.empty()) {
      return {conditions == 0 ? "No arms can be compared yet" : "No arm is better than all others",
              caption};
    }
    const auto most = std::max_element(
        best.begin(), best.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return {fmt::format("{} has the best mean under {} of {}", most->first, most->second,
                        counted(conditions, "condition", "conditions")),
            caption};
  }

  Finding importance() const {
    std::map<std::string, std::vector<double>> by_metric;
    for (const StudyRegret& regret : r_.regret) {
      by_metric[regret.metric].push_back(regret.regret.value);
    }
    const std::string caption =
        "Regret where the loss of all subsets of heads is known, without recovery: the loss of the "
        "heads that a metric keeps, on a scale from the best subset of the same size (0) to the "
        "mean of random subsets (1). Mean over seeds. The heads of a game compete with each other, "
        "and all other heads are kept.";
    if (by_metric.empty())
      return {"This study has not measured the losses of all subsets", caption};
    std::map<std::string, double> means;
    for (const auto& [metric, values] : by_metric) means[metric] = median(values);
    const auto [best, worst] =
        std::minmax_element(means.begin(), means.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    return {
        fmt::format("The median regret of {} is {:.2f}, the smallest; that of {} is {:.2f}, the "
                    "largest",
                    best->first, best->second, worst->first, worst->second),
        caption};
  }

  Finding threshold() const {
    const std::vector<AcceptableLoss> all = acceptable_losses(r_);
    const std::string caption = fmt::format(
        "The smallest number of heads with which an arm is worse than the models with all heads by "
        "at most {} of {}, after the same number of steps. The whole 95 % interval of the paired "
        "difference must be within this limit. A dash means that no tried number of heads meets "
        "it.",
        is_share(first_) ? fmt::format("{:.3g} points", 100 * acceptable_)
                         : figure_text(acceptable_),
        measure_in_words(first_));
    if (all.empty()) return {"No tried removal is acceptable for the whole 95 % interval", caption};
    return {fmt::format("{:.3g} heads are enough: {}{}", all.front().heads, all.front().arm,
                        under(all.front().condition)),
            caption};
  }

  Finding speed() const {
    const std::string caption =
        "The number of parameters of the models. These runs share the processor, so the table has "
        "no times. `headroom bench heads` measures the speed of layers with fewer heads on an idle "
        "machine.";
    double most_heads = 0, most_parameters = 0, fewest_heads = 0, fewest_parameters = 0;
    for (const CellResult& cell : r_.cells) {
      const auto heads = double(cell.heads()), parameters = double(cell.parameters);
      if (heads > most_heads) std::tie(most_heads, most_parameters) = std::pair(heads, parameters);
      if (fewest_parameters == 0 || parameters < fewest_parameters) {
        std::tie(fewest_heads, fewest_parameters) = std::pair(heads, parameters);
      }
    }
    if (r_.cells.empty()) return {"No run is done yet", caption};
    return {fmt::format("A model with {} of {} heads has {:.0f} % of the parameters", fewest_heads,
                        most_heads, 100 * fewest_parameters / most_parameters),
            caption};
  }

  Finding comparison() const {
    Index found = 0, better_found = 0, done = 0;
    for (const StudyContrast& contrast : r_.contrasts) {
      if (!contrast.in_family) continue;
      ++done;
      if (!contrast.holm || *contrast.holm >= significance) continue;
      ++found;
      if ((contrast.difference.value > 0) == higher_is_better(contrast.measure)) ++better_found;
    }
    const std::string caption = fmt::format(
        "Differences that are paired by seed: the mean with its 95 % t-interval, the p-value of "
        "Student's t-test, and the p-value after Holm's correction for the {} comparisons that the "
        "declaration names as one family. Other comparisons are not corrected, so they suggest "
        "effects but do not prove them.",
        r_.family);
    if (done == 0) return {"No comparison of the family is done yet", caption};
    return {
        fmt::format("{} of {} comparisons of the family are significant at the level of 5 % after "
                    "Holm's correction: {} better, {} worse",
                    found, r_.family, better_found, found - better_found),
        caption};
  }

  Finding refinement() const {
    const std::string caption =
        "The difference between two levels of a factor, all else being equal: the mean over all "
        "arms and random heads that have both, paired by seed, with its 95 % t-interval. The "
        "charts show when the first run of each arm removes heads of each kind.";
    Index known = 0, clear = 0;
    for (const StudyEffect& effect : r_.effects) {
      if (effect.measure != first_) continue;
      ++known;
      if (effect.difference.low > 0 || effect.difference.high < 0) ++clear;
    }
    if (known == 0) return {"No two levels of a factor can be compared", caption};
    return {
        fmt::format("For {} of {} between levels of factors, the interval of {} excludes 0", clear,
                    counted(known, "difference", "differences"), measure_in_words(first_)),
        caption};
  }

  Finding validation() const {
    const Index folds = r_.declaration.value("folds", Index(1));
    std::vector<double> widths;
    std::set<Index> seeds;
    for (const StudyMean& mean : r_.means) {
      if (mean.measure != first_) continue;
      for (const SeedValue& seed : mean.seeds) seeds.insert(seed.seed);
      if (mean.seeds.size() > 1) widths.push_back((mean.mean.high - mean.mean.low) / 2);
    }
    const std::string caption = fmt::format(
        "The unit of replication is the seed, which determines data, initial weights and batches. "
        "{} The table has the values of the first measure for each seed.",
        folds > 1
            ? fmt::format(
                  "Within a seed the examples for training and test are divided into {} folds, "
                  "and each run is tested on the fold that it does not train on; the folds "
                  "are averaged first.",
                  folds)
            : "Each seed draws its own data, so no examples are divided into folds.");
    if (widths.empty()) return {"No arm is done for two seeds yet", caption};
    return {fmt::format("{}{}: the median half-width of the 95 % intervals is {}",
                        counted(Index(seeds.size()), "seed", "seeds"),
                        folds > 1 ? fmt::format(" of {} folds", folds) : "",
                        quality_text(median(widths), first_)),
            caption};
  }

  Finding decision() const {
    const std::vector<AcceptableLoss> all = acceptable_losses(r_);
    const std::string caption = fmt::format(
        "The declaration states the rule before the runs: keep the smallest model that is worse "
        "than the model with all heads by at most {} of {}, for the whole 95 % interval. The best "
        "of many arms looks better than it is, so repeat it with other seeds before you rely on "
        "it.",
        is_share(first_) ? fmt::format("{:.3g} points", 100 * acceptable_)
                         : figure_text(acceptable_),
        measure_in_words(first_));
    if (Index(r_.cells.size()) < r_.cells_planned) {
      return {
          fmt::format("No decision yet: {} of {} runs are done", r_.cells.size(), r_.cells_planned),
          caption};
    }
    if (all.empty())
      return {"Keep all heads: no smaller model is acceptable for the whole 95 % interval",
              caption};
    const auto mean = std::find_if(r_.means.begin(), r_.means.end(), [&](const StudyMean& m) {
      return m.condition == all.front().condition && m.arm == all.front().arm &&
             m.measure == first_;
    });
    return {fmt::format("Keep {:.3g} heads, chosen by {}{}: {} {}", all.front().heads,
                        all.front().arm, under(all.front().condition), measure_in_words(first_),
                        interval_text(mean->mean, first_)),
            caption};
  }

  bool better(double a, double b) const { return higher_is_better(first_) ? a > b : a < b; }
  static std::string capitalised(std::string text) {
    if (!text.empty()) text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

  const StudyResults& r_;
  std::string first_;
  double acceptable_;
};

}  // namespace

std::string measure_in_words(const std::string& measure) {
  std::string name = measure.substr(measure.rfind('.') + 1);
  const bool test = measure.find("test.") != std::string::npos;
  for (const Measure& quality : quality_measures) {
    if (name == quality.key) name = quality.name;
  }
  if (name == "validation_loss") name = "validation loss";
  if (name == "loss") name = "loss";
  return name + (test ? " on the test set" : "") +
         (measure.starts_with("cut.") ? ", right after the last removal" : "");
}

std::vector<AcceptableLoss> acceptable_losses(const StudyResults& results) {
  const auto first = results.declaration.at("measures").at(0).get<std::string>();
  const double acceptable = results.declaration.value("acceptable_loss", 0.01);
  std::vector<AcceptableLoss> all;
  for (const StudyContrast& contrast : results.contrasts) {
    const bool control = std::find(results.controls.begin(), results.controls.end(),
                                   contrast.arm) != results.controls.end();
    if (contrast.measure != first || contrast.against != "none" || control) continue;
    const double lost =
        higher_is_better(first) ? -contrast.difference.low : contrast.difference.high;
    if (contrast.seeds.size() < 2 || lost > acceptable) continue;
    for (const StudyMean& mean : results.means) {
      if (mean.condition == contrast.condition && mean.arm == contrast.arm &&
          mean.measure == first) {
        all.push_back({contrast.condition, contrast.arm, mean.heads});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const AcceptableLoss& a, const AcceptableLoss& b) {
    return a.heads < b.heads;
  });
  return all;
}

std::vector<StudySection> study_sections(const StudyResults& results) {
  return StudyFindings(results).sections();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
