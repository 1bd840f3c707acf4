// StudyResults: the results of a study so far: every run, means over seeds, contrasts, and the
// agreement and regret of metrics.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom_lab/study/plan.hpp"
#include "headroom_lab/study/provenance.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A run that is done.
struct CellResult {
  std::string key, trunk;
  Index seed = 0, fold = 0, draw = 0;
  Index steps = 0, parameters = 0;
  double multiply_adds = 0;                           // see multiply_adds_of()
  GivenSettings settings = {};                        // those that differ from the study's base
  std::map<std::string, Index> kept = {};             // live heads at the end, by kind
  std::map<std::string, double> measures = {};        // the declared measures that it has
  std::vector<std::vector<double>> evaluations = {};  // step, validation loss
  std::vector<PruningEvent> timeline = {};            // removals, and the scores behind them
  Index heads() const;                                // the sum of `kept`

  using T = CellResult;
  using Fields = Listed<&T::key, &T::trunk, &T::seed, &T::fold, &T::draw, &T::steps, &T::parameters,
                        &T::multiply_adds, if_any<&T::settings>, &T::kept, &T::measures,
                        &T::evaluations, if_any<&T::timeline>>;
};

/// The multiply-adds of one position in the matrix products with the weights of all attention and
/// feed-forward layers: 4 C D for each head that is left (with the layout `shared` 3 D D + C D) and
/// 2 C F for each layer, of both stacks if there is cross-attention. The products of attention
/// weights, which depend on the length, and those of embeddings and output are not in it.
double multiply_adds_of(const ModelConfig& model, const std::map<std::string, Index>& kept);

/// The scores of a trunk's heads by all metrics.
struct StudyScores {
  /// The scores of one metric.
  struct Metric {
    std::string name;
    bool keep_low = false;            // low scores are those of important heads
    std::vector<double> scores = {};  // of all heads

    using T = Metric;
    using Fields = Listed<&T::name, &T::keep_low, &T::scores>;
  };
  std::string trunk;
  Index seed = 0, fold = 0;
  std::vector<HeadId> heads = {};
  std::vector<Metric> metrics = {};

  using T = StudyScores;
  using Fields = Listed<&T::trunk, &T::seed, &T::fold, &T::heads, &T::metrics>;
};

/// A run as the run of an arm or control under a condition.
struct StudyRole {
  Index condition = 0;
  std::string arm, cell;

  using T = StudyRole;
  using Fields = Listed<&T::condition, &T::arm, &T::cell>;
};

/// The value of a seed, the mean of all its draws and folds.
struct SeedValue {
  Index seed = 0;
  double value = 0;

  using T = SeedValue;
  using Fields = Listed<&T::seed, &T::value>;
};

/// A measure of an arm or control under a condition, from the seeds whose runs are all done.
struct StudyMean {
  Index condition = 0;
  std::string arm, measure;
  double heads = 0;                         // kept, on average
  std::map<std::string, double> kept = {};  // by kind
  double parameters = 0, multiply_adds = 0;
  Interval mean = {};  // over seeds, with the 95 % interval: share_interval()
                       // of shares, else mean_interval()
  std::vector<SeedValue> seeds = {};
  std::vector<double> points = {};  // of every run

  using T = StudyMean;
  using Fields = Listed<&T::condition, &T::arm, &T::measure, &T::heads, &T::kept, &T::parameters,
                        &T::multiply_adds, &T::mean, &T::seeds, &T::points>;
};

/// Titles and the decision use differences of at least this many seeds.
inline constexpr std::size_t fewest_seeds = 3;

/// The difference of an arm or control from another one under the same condition, paired by seed.
/// Interval and p are missing where the difference is the same in all seeds, or there is only one.
struct StudyContrast {
  Index condition = 0;
  std::string arm, against, measure;
  bool in_family = false;                 // belongs to the comparisons that are tested together
  double difference = 0;                  // mean over the seeds that both have
  std::optional<Interval> interval = {};  // its 95 % t-interval
  std::optional<double> p = {};           // of Student's t-test of "there is no difference"
  std::optional<double> holm = {};        // p corrected for the whole family, done or not
  std::vector<SeedValue> seeds = {};

  /// Returns whether there are enough seeds that differ for a title.
  bool decides() const { return interval.has_value() && seeds.size() >= fewest_seeds; }

  using T = StudyContrast;
  using Fields = Listed<&T::condition, &T::arm, &T::against, &T::measure, &T::in_family,
                        &T::difference, &T::interval, &T::p, &T::holm, &T::seeds>;
};

/// The difference between two levels of a factor, all else being equal: the mean over all arms,
/// random heads and other levels that both have, paired by seed.
struct StudyEffect {
  std::string factor, level, against, measure;
  double difference = 0;
  std::optional<Interval> interval = {};  // as in StudyContrast
  std::optional<double> p = {};
  Index pairs = 0;  // number of pairs of means in each seed
  std::vector<SeedValue> seeds = {};

  using T = StudyEffect;
  using Fields = Listed<&T::factor, &T::level, &T::against, &T::measure, &T::difference,
                        &T::interval, &T::p, &T::pairs, &T::seeds>;
};

/// Spearman's rank correlation of two metrics over the heads of a trunk, mean over the seeds where
/// both tell heads apart; none if there is no such seed.
struct StudyAgreement {
  std::string x, y;
  std::optional<Interval> correlation = {};

  using T = StudyAgreement;
  using Fields = Listed<&T::x, &T::y, &T::correlation>;
};

/// Regret of a metric where the loss of all subsets is known: the loss of the heads that it keeps,
/// on a scale from the best subset (0) to the mean of random ones (1). Mean over seeds.
struct StudyRegret {
  std::string game, metric;  // game: the heads that compete
  Index kept = 0;
  Interval regret = {};
  std::vector<SeedValue> seeds = {};
  bool candidate = true;  // is_candidate(), and the metric tells the heads of all trunks apart

  using T = StudyRegret;
  using Fields = Listed<&T::game, &T::metric, &T::kept, &T::regret, &T::seeds, &T::candidate>;
};

/// The difference between the regrets of two metrics, paired by seed. The regret of a metric in a
/// seed is the mean over all games and numbers of heads. All pairs of candidates are one family.
struct RegretContrast {
  std::string metric, against;
  double difference = 0;
  std::optional<Interval> interval = {};  // as in StudyContrast
  std::optional<double> p = {}, holm = {};
  Index seeds = 0;

  using T = RegretContrast;
  using Fields =
      Listed<&T::metric, &T::against, &T::difference, &T::interval, &T::p, &T::holm, &T::seeds>;
};

/// Whether a model with all heads has learned the task: each run of the control none that is done,
/// and each trunk without one.
struct StudyTaskCheck {
  std::string run;  // "cells/KEY" or "trunks/KEY"
  Index seed = 0, fold = 0;
  std::optional<TaskCheck> check = {};  // none for runs of versions that did not check it

  bool learned() const { return check && check->learned; }

  using T = StudyTaskCheck;
  using Fields = Listed<&T::run, &T::seed, &T::fold, &T::check>;
};

/// Everything that a study found.
struct StudyResults {
  Record declaration;
  std::string precision;
  Index cells_planned = 0;
  Index family = 0;                     // number of comparisons that are tested together
  std::vector<std::string> conditions;  // "pace gradual, prune 12"
  std::vector<GivenSettings> levels;    // of the factors, for each condition
  std::vector<std::string> arms;        // of the declaration, then controls
  std::vector<std::string> controls;    // those of `arms` that are controls
  std::vector<CellResult> cells;
  std::vector<StudyRole> roles;  // of the cells
  std::vector<StudyMean> means;
  std::vector<StudyContrast> contrasts;
  std::vector<StudyEffect>
      effects;  // of all factors with several levels except the number of heads
  std::vector<StudyAgreement> agreement;
  std::vector<StudyRegret> regret;
  std::vector<RegretContrast> regret_contrasts;
  std::vector<StudyTaskCheck> task_checks;
  std::vector<StudyScores> scores;  // of the trunks
  StudyProvenance provenance;

  using T = StudyResults;
  using Fields = Listed<&T::declaration, &T::precision, &T::cells_planned, &T::family,
                        &T::conditions, &T::levels, &T::arms, &T::controls, &T::means,
                        &T::contrasts, &T::effects, &T::agreement, &T::regret, &T::regret_contrasts,
                        &T::task_checks, &T::provenance, &T::scores, &T::roles, &T::cells>;
};

/// Returns whether a measure is a share of the outputs, which tables show in percent.
bool is_share(const std::string& measure);

/// Returns whether larger values of a measure are better.
bool higher_is_better(const std::string& measure);

/// Fills in means, contrasts and effects from cells, and contrasts of regrets.
void summarise(const StudyDeclaration& declaration, const StudyPlan& plan, StudyResults& results);

/// The results of the runs that are done in the folder of a study. Except for `provenance`, they do
/// not depend on the time and number of copies of the training. Throws FileError for malformed
/// files, and for runs whose metrics.jsonl is not the one of their checkpoint.
StudyResults results_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                        const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
