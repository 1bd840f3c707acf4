// The findings of a study: sentences computed from its results.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "headroom/base/names.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/blocks/text.hpp"
#include "headroom_lab/report/study.hpp"
#include "report/study_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double significance = 0.05;  // of tests
constexpr std::size_t most_named = 4;  // metrics in a title

std::string quality_text(double value, const std::string& measure) {
  return is_share(measure) ? fmt::format("{:.1f} %", 100 * value) : figure_text(value);
}

std::string interval_text(const Interval& i, const std::string& measure) {
  if (i.low == i.high) return quality_text(i.value, measure);  // one seed, or equal ones
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
        choice_(choice_measure(results)),
        reported_(report_measure(results)),
        acceptable_(r_.declaration.value("acceptable_loss", 0.01)),
        learned_(study_warning(results).empty()) {}

  std::vector<StudySection> sections() const {
    std::vector<StudySection> all{{"Attention head scores", scores(), {}},
                                  {"Pruning candidates", candidates(), {}},
                                  {"Model performance", performance(), {}},
                                  {"Importance vs. performance", importance(), {}},
                                  {"Threshold selection", threshold(), {}},
                                  {"Pruning and speed evaluation", speed(), {}},
                                  {"Comparative analysis", comparison(), {}},
                                  {"Iterative refinement", refinement(), {}},
                                  {"Cross-validation", validation(), {}},
                                  {"Reporting and decision", decision(), {}}};
    const std::vector<std::vector<Table>> tables = study_tables(r_);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].tables = tables[i];
    if (learned_) return all;
    for (const std::size_t compares : std::vector<std::size_t>{0, 2, 3, 4, 6, 7}) {
      all[compares].finding.title = "No finding: the models have not learned the task";
    }
    all.back().finding.title = "No decision. " + study_warning(r_);
    return all;
  }

 private:
  std::string under(Index condition) const {
    const std::string& text = r_.conditions[std::size_t(condition)];
    return text.empty() ? "" : " (" + text + ")";
  }

  Finding scores() const {
    const StudyAgreement *most = nullptr, *least = nullptr;
    Index pairs = 0;
    std::set<std::string> metrics;
    for (const StudyAgreement& pair : r_.agreement) {
      metrics.insert(pair.x);
      if (pair.x >= pair.y || !pair.correlation) continue;
      const double value = pair.correlation->value;
      if (most == nullptr || value > most->correlation->value) most = &pair;
      if (least == nullptr || value < least->correlation->value) least = &pair;
      ++pairs;
    }
    const std::string caption =
        "Spearman's rank correlation between the scores of all heads by two metrics, at the end of "
        "the trunk: 1 means the same order, 0 means unrelated orders. The cells show the mean over "
        "seeds. The table of values has its 95 % t-interval, too. A metric that gives all heads "
        "the same score has no order, and a dash.";
    if (metrics.empty()) return {"No heads have been scored yet", caption};
    if (metrics.size() == 1) return {"One metric scores the heads", caption};
    std::string title = fmt::format("{} metrics score the heads; ", metrics.size());
    if (pairs == 0) {
      title += "no two of them tell heads apart";
    } else if (pairs == 1) {
      title += fmt::format("the rank correlation of {} and {} is {:.2f}", most->x, most->y,
                           most->correlation->value);
    } else {
      title += fmt::format(
          "the rank correlation of two is between {:.2f} ({} and {}) and {:.2f} ({} and {})",
          least->correlation->value, least->x, least->y, most->correlation->value, most->x,
          most->y);
    }
    return {title, caption};
  }

  Finding candidates() const {
    return {fmt::format("{} of {} runs are done: {}, {}, {}", r_.cells.size(), r_.cells_planned,
                        counted(Index(r_.conditions.size()), "condition", "conditions"),
                        counted(Index(r_.arms.size() - r_.controls.size()), "arm", "arms"),
                        counted(Index(r_.controls.size()), "control", "controls")),
            "The number of heads left, in all and of each kind of attention: the mean over the "
            "runs of an arm or control."};
  }

  /// "sensitivity under 2, greedy under 1"
  static std::string counted_arms(const std::map<std::string, Index>& arms) {
    std::vector<std::string> parts;
    for (const auto& [arm, count] : arms) parts.push_back(fmt::format("{} under {}", arm, count));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  Finding performance() const {
    const std::string caption = fmt::format(
        "{} against the number of heads left. The lines show the mean over seeds with its 95 % "
        "t-interval, for shares on the scale of logits, so that it stays between 0 and 100 %. The "
        "points show every run. Random heads are drawn several times for each "
        "seed, and the draws are averaged first. Every chart shows random heads in grey. The title "
        "names only differences that section 7 finds significant after Holm's correction.",
        capitalised(measure_in_words(first_)));
    const std::string reference = against();
    std::map<std::string, Index> better_arms, worse_arms;
    std::set<Index> conditions;
    std::size_t most_seeds = 0;
    for (const StudyContrast& contrast : r_.contrasts) {
      if (!contrast.in_family || contrast.measure != first_ || contrast.against != reference)
        continue;
      most_seeds = std::max(most_seeds, contrast.seeds.size());
      conditions.insert(contrast.condition);
      if (!significant(contrast)) continue;
      ++(improves(contrast) ? better_arms : worse_arms)[contrast.arm];
    }
    const std::string words = measure_in_words(first_);
    if (conditions.empty()) {
      return {fmt::format("No arm is compared with {} by {} yet", reference, words), caption};
    }
    if (most_seeds < fewest_seeds) return {too_few(most_seeds), caption};
    if (better_arms.empty() && worse_arms.empty()) {
      return {fmt::format("No difference in {} from {} is established", words, reference), caption};
    }
    std::string title;
    for (const auto& [name, arms] : {std::pair("Better", better_arms), {"Worse", worse_arms}}) {
      if (arms.empty()) continue;
      title += fmt::format("{}{} than {} in {}: {}", title.empty() ? "" : ". ", name, reference,
                           words, counted_arms(arms));
    }
    return {fmt::format("{} of {}", title,
                        counted(Index(conditions.size()), "condition", "conditions")),
            caption};
  }

  Finding importance() const {
    const std::string caption =
        "Regret where the loss of all subsets of heads is known, without recovery: the loss of the "
        "heads that a metric keeps, on a scale from the best subset of the same size (0) to the "
        "mean of random subsets (1). Mean over seeds. The heads of a game compete with each other, "
        "and all other heads are kept. For the title the regrets of a seed are averaged over all "
        "games and sizes, and all pairs of metrics are compared by Student's t-test, paired by "
        "seed, with Holm's correction. Not compared are choices made on the set that measures the "
        "regret, the negative control worst_first, and metrics that give all heads the same score.";
    if (r_.regret.empty())
      return {"This study has not measured the losses of all subsets", caption};
    std::map<std::string, Index> beaten;  // the number of metrics whose regret is larger
    std::set<std::string> metrics;
    for (const StudyRegret& regret : r_.regret) {
      if (regret.candidate) metrics.insert(regret.metric);
    }
    if (metrics.size() < 2) return {"No two metrics have regrets to compare", caption};
    std::size_t most_seeds = 0;
    for (const RegretContrast& contrast : r_.regret_contrasts) {
      most_seeds = std::max(most_seeds, std::size_t(contrast.seeds));
      if (contrast.seeds < Index(fewest_seeds) || !contrast.holm ||
          *contrast.holm >= significance) {
        continue;
      }
      ++beaten[contrast.difference < 0 ? contrast.metric : contrast.against];
    }
    if (most_seeds < fewest_seeds) return {too_few(most_seeds), caption};
    if (beaten.empty()) {
      return {fmt::format("No difference between the regrets of {} metrics is established",
                          metrics.size()),
              caption};
    }
    Index most = 0;
    for (const auto& [metric, count] : beaten) most = std::max(most, count);
    std::vector<std::string> best;
    for (const auto& [metric, count] : beaten) {
      if (count == most) best.push_back(metric);
    }
    const std::string than =
        fmt::format("smaller than that of {} of {} other metrics", most, metrics.size() - 1);
    if (best.size() == 1) return {fmt::format("The regret of {} is {}", best[0], than), caption};
    return {fmt::format("The regret of each of {} is {}",
                        best.size() <= most_named ? fmt::format("{}", fmt::join(best, ", "))
                                                  : fmt::format("{} metrics", best.size()),
                        than),
            caption};
  }

  Finding threshold() const {
    const std::vector<AcceptableLoss> all = acceptable_losses(r_);
    const std::string caption = fmt::format(
        "The smallest number of heads with which an arm is worse than the models with all heads by "
        "at most {} of {}, after the same number of steps. The whole 95 % interval of the paired "
        "difference must be within this limit. A dash means that no tried number of heads meets "
        "it, \"unknown\" that some comparison has too few seeds or no interval.",
        acceptable_text(), measure_in_words(choice_));
    if (all.empty()) return {capitalised(none_acceptable().reason), caption};
    return {fmt::format("{:.3g} heads are enough: {}{}", all.front().heads, all.front().arm,
                        under(all.front().condition)),
            caption};
  }

  Finding speed() const {
    const std::string caption =
        "The number of parameters of the models, and the multiply-adds of a position with the "
        "weights of attention and feed-forward layers. " +
        latency_text(r_);
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
    Index found = 0, better_found = 0, done = 0, tied = 0;
    std::size_t most_seeds = 0;
    for (const StudyContrast& contrast : r_.contrasts) {
      if (!contrast.in_family) continue;
      ++done;
      most_seeds = std::max(most_seeds, contrast.seeds.size());
      if (contrast.seeds.size() > 1 && !contrast.p) ++tied;
      if (!significant(contrast)) continue;
      ++found;
      if (improves(contrast)) ++better_found;
    }
    const std::string caption = fmt::format(
        "Differences that are paired by seed: the mean with its 95 % t-interval, the p-value of "
        "Student's t-test, and the p-value after Holm's correction for the {} comparisons that the "
        "declaration names as one family. Other comparisons are not corrected, so they suggest "
        "effects but do not prove them. A difference that is the same in all seeds has neither "
        "interval nor p: its variance is unknown. Titles need at least {} seeds.",
        r_.family, fewest_seeds);
    if (done == 0) return {"No comparison of the family is done yet", caption};
    if (most_seeds < fewest_seeds) return {too_few(most_seeds), caption};
    return {fmt::format(
                "{} of {} comparisons of the family are significant at the level of 5 % after "
                "Holm's correction: {} better, {} worse{}",
                found, r_.family, better_found, found - better_found,
                tied == 0 ? ""
                          : fmt::format("; {} {} no p, because the difference is the same in all "
                                        "seeds",
                                        tied, tied == 1 ? "has" : "have")),
            caption};
  }

  Finding refinement() const {
    const std::string caption =
        "The difference between two levels of a factor, all else being equal: the mean over all "
        "arms and random heads that have both, paired by seed, with its 95 % t-interval. The "
        "charts show when the first run of each arm removes heads of each kind.";
    Index known = 0, clear = 0;
    std::size_t most_seeds = 0;
    for (const StudyEffect& effect : r_.effects) {
      if (effect.measure != first_) continue;
      ++known;
      most_seeds = std::max(most_seeds, effect.seeds.size());
      if (!effect.interval || effect.seeds.size() < fewest_seeds) continue;
      if (effect.interval->low > 0 || effect.interval->high < 0) ++clear;
    }
    if (known == 0) return {"No two levels of a factor can be compared", caption};
    if (most_seeds < fewest_seeds) return {too_few(most_seeds), caption};
    return {
        fmt::format("For {} of {} between levels of factors, the interval of {} excludes 0", clear,
                    counted(known, "difference", "differences"), measure_in_words(first_)),
        caption};
  }

  Finding validation() const {
    const Index folds = r_.declaration.value("folds", Index(1));
    std::vector<double> widths;
    std::set<Index> seeds;
    std::size_t most_seeds = 0;
    for (const StudyMean& mean : r_.means) {
      if (mean.measure != first_) continue;
      for (const SeedValue& seed : mean.seeds) seeds.insert(seed.seed);
      most_seeds = std::max(most_seeds, mean.seeds.size());
      if (mean.mean.low < mean.mean.high) widths.push_back((mean.mean.high - mean.mean.low) / 2);
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
    if (most_seeds < 2) return {"No arm is done for two seeds yet", caption};
    if (widths.empty()) {
      return {fmt::format("No arm has an interval: its {} is the same in all seeds",
                          measure_in_words(first_)),
              caption};
    }
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
        "than the model with all heads by at most {} of {}, for the whole 95 % interval. {}",
        acceptable_text(), measure_in_words(choice_),
        reported_ != choice_
            ? fmt::format("The title has the {}, which took no part in the choice.",
                          measure_in_words(reported_))
            : "The best of many arms looks better than it is on the examples that chose it: repeat "
              "it with other seeds, or declare the same measure of the test set, too, for the "
              "title.");
    if (Index(r_.cells.size()) < r_.cells_planned) {
      return {
          fmt::format("No decision yet: {} of {} runs are done", r_.cells.size(), r_.cells_planned),
          caption};
    }
    if (all.empty()) {
      const NoneAcceptable none = none_acceptable();
      return {(none.decided ? "Keep all heads: " : "No decision: ") + none.reason, caption};
    }
    std::string value;  // on the set that reports, else on the one that chose
    for (const std::string& measure : {choice_, reported_}) {
      for (const StudyMean& mean : r_.means) {
        if (mean.condition != all.front().condition || mean.arm != all.front().arm) continue;
        if (mean.measure != measure) continue;
        value = measure_in_words(measure) + " " + interval_text(mean.mean, measure);
      }
    }
    return {fmt::format("Keep {:.3g} heads, chosen by {}{}: {}", all.front().heads, all.front().arm,
                        under(all.front().condition), value),
            caption};
  }

  /// "1 points", "0.01"
  std::string acceptable_text() const {
    return is_share(choice_) ? fmt::format("{:.3g} points", 100 * acceptable_)
                             : figure_text(acceptable_);
  }

  /// Why no arm is acceptable: because of the comparisons that decide, or because none does.
  struct NoneAcceptable {
    bool decided;
    std::string reason;
  };
  NoneAcceptable none_acceptable() const {
    Index decided = 0, tied = 0;
    std::size_t most_seeds = 0;
    for (const StudyContrast* contrast : from_all_heads(r_)) {
      most_seeds = std::max(most_seeds, contrast->seeds.size());
      if (contrast->decides()) ++decided;
      if (contrast->seeds.size() >= fewest_seeds && !contrast->interval) ++tied;
    }
    if (most_seeds == 0) {
      return {false, "no arm is compared with the control none, the model with all heads"};
    }
    if (most_seeds < fewest_seeds) return {false, too_few(most_seeds)};
    const std::string without = fmt::format(
        "{} no interval, because the difference from all heads is the same in all seeds",
        tied == 1 ? "1 comparison has" : fmt::format("{} comparisons have", tied));
    if (decided == 0) return {false, without};
    return {true, "no smaller model is acceptable for the whole 95 % interval" +
                      (tied == 0 ? "" : "; " + without)};
  }

  static std::string too_few(std::size_t seeds) {
    return fmt::format("{} too few to compare arms: at least {} are needed",
                       seeds == 1 ? "1 seed is" : fmt::format("{} seeds are", seeds), fewest_seeds);
  }
  static bool significant(const StudyContrast& contrast) {
    return contrast.decides() && contrast.holm && *contrast.holm < significance;
  }
  static bool improves(const StudyContrast& contrast) {
    return (contrast.difference > 0) == higher_is_better(contrast.measure);
  }
  /// The arm or control that the declaration compares the arms with.
  std::string against() const {
    StudyContrasts contrasts;
    const Record declared = r_.declaration.value("contrasts", Record::object());
    contrasts.against = declared.value("against", contrasts.against);
    return reference_of(contrasts);
  }
  static std::string capitalised(std::string text) {
    if (!text.empty()) text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

  const StudyResults& r_;
  std::string first_, choice_, reported_;
  double acceptable_;
  bool learned_;
};

}  // namespace

std::vector<StudySection> study_sections(const StudyResults& results) {
  return StudyFindings(results).sections();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
