// StudyResults: the results of a study so far: every run, means over seeds, contrasts, and the
// agreement and regret of metrics.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/statistics/intervals.hpp"
#include "headroom/study/plan.hpp"
#include "headroom/train/run_record.hpp"
#include "headroom/train/task_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A run that is done.
struct CellResult {
  std::string key, trunk;
  Index seed = 0, fold = 0, draw = 0;
  Index steps = 0, parameters = 0;
  std::map<std::string, Index> kept = {};             // live heads at the end, by kind
  std::map<std::string, double> measures = {};        // the declared measures that it has
  std::vector<std::vector<double>> evaluations = {};  // step, validation loss
  std::vector<PruningEvent> timeline = {};            // removals, and the scores behind them
  Index heads() const;                                // the sum of `kept`

  template <class Visit>
  static void fields(Visit visit) {
    visit("key", &CellResult::key);
    visit("trunk", &CellResult::trunk);
    visit("seed", &CellResult::seed);
    visit("fold", &CellResult::fold);
    visit("draw", &CellResult::draw);
    visit("steps", &CellResult::steps);
    visit("parameters", &CellResult::parameters);
    visit("kept", &CellResult::kept);
    visit("measures", &CellResult::measures);
    visit("evaluations", &CellResult::evaluations);
    visit("timeline", &CellResult::timeline, Presence::if_any);
  }
};

/// A run as the run of an arm or control under a condition.
struct StudyRole {
  Index condition = 0;
  std::string arm, cell;

  template <class Visit>
  static void fields(Visit visit) {
    visit("condition", &StudyRole::condition);
    visit("arm", &StudyRole::arm);
    visit("cell", &StudyRole::cell);
  }
};

/// The value of a seed, the mean of all its draws and folds.
struct SeedValue {
  Index seed = 0;
  double value = 0;

  template <class Visit>
  static void fields(Visit visit) {
    visit("seed", &SeedValue::seed);
    visit("value", &SeedValue::value);
  }
};

/// A measure of an arm or control under a condition, from the seeds whose runs are all done.
struct StudyMean {
  Index condition = 0;
  std::string arm, measure;
  double heads = 0;                         // kept, on average
  std::map<std::string, double> kept = {};  // by kind
  Interval mean = {};                       // over seeds, with the 95 % t-interval; without width
                                            // for one seed and for equal values
  std::vector<SeedValue> seeds = {};
  std::vector<double> points = {};  // of every run

  template <class Visit>
  static void fields(Visit visit) {
    visit("condition", &StudyMean::condition);
    visit("arm", &StudyMean::arm);
    visit("measure", &StudyMean::measure);
    visit("heads", &StudyMean::heads);
    visit("kept", &StudyMean::kept);
    visit("mean", &StudyMean::mean);
    visit("seeds", &StudyMean::seeds);
    visit("points", &StudyMean::points);
  }
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

  template <class Visit>
  static void fields(Visit visit) {
    visit("condition", &StudyContrast::condition);
    visit("arm", &StudyContrast::arm);
    visit("against", &StudyContrast::against);
    visit("measure", &StudyContrast::measure);
    visit("in_family", &StudyContrast::in_family);
    visit("difference", &StudyContrast::difference);
    visit("interval", &StudyContrast::interval);
    visit("p", &StudyContrast::p);
    visit("holm", &StudyContrast::holm);
    visit("seeds", &StudyContrast::seeds);
  }
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

  template <class Visit>
  static void fields(Visit visit) {
    visit("factor", &StudyEffect::factor);
    visit("level", &StudyEffect::level);
    visit("against", &StudyEffect::against);
    visit("measure", &StudyEffect::measure);
    visit("difference", &StudyEffect::difference);
    visit("interval", &StudyEffect::interval);
    visit("p", &StudyEffect::p);
    visit("pairs", &StudyEffect::pairs);
    visit("seeds", &StudyEffect::seeds);
  }
};

/// Spearman's rank correlation of two metrics over the heads of a trunk, mean over the seeds where
/// both tell heads apart; none if there is no such seed.
struct StudyAgreement {
  std::string x, y;
  std::optional<Interval> correlation = {};

  template <class Visit>
  static void fields(Visit visit) {
    visit("x", &StudyAgreement::x);
    visit("y", &StudyAgreement::y);
    visit("correlation", &StudyAgreement::correlation);
  }
};

/// Regret of a metric where the loss of all subsets is known: the loss of the heads that it keeps,
/// on a scale from the best subset (0) to the mean of random ones (1). Mean over seeds.
struct StudyRegret {
  std::string game, metric;  // game: the heads that compete
  Index kept = 0;
  Interval regret = {};
  std::vector<SeedValue> seeds = {};
  bool candidate = true;  // is_candidate(), and the metric tells the heads of all trunks apart

  template <class Visit>
  static void fields(Visit visit) {
    visit("game", &StudyRegret::game);
    visit("metric", &StudyRegret::metric);
    visit("kept", &StudyRegret::kept);
    visit("regret", &StudyRegret::regret);
    visit("seeds", &StudyRegret::seeds);
    visit("candidate", &StudyRegret::candidate);
  }
};

/// The difference between the regrets of two metrics, paired by seed. The regret of a metric in a
/// seed is the mean over all games and numbers of heads. All pairs of candidates are one family.
struct RegretContrast {
  std::string metric, against;
  double difference = 0;
  std::optional<Interval> interval = {};  // as in StudyContrast
  std::optional<double> p = {}, holm = {};
  Index seeds = 0;

  template <class Visit>
  static void fields(Visit visit) {
    visit("metric", &RegretContrast::metric);
    visit("against", &RegretContrast::against);
    visit("difference", &RegretContrast::difference);
    visit("interval", &RegretContrast::interval);
    visit("p", &RegretContrast::p);
    visit("holm", &RegretContrast::holm);
    visit("seeds", &RegretContrast::seeds);
  }
};

/// Whether a model with all heads has learned the task: each run of the control none that is done,
/// and each trunk without one.
struct StudyTaskCheck {
  std::string run;  // "cells/KEY" or "trunks/KEY"
  Index seed = 0, fold = 0;
  std::optional<TaskCheck> check = {};  // none for runs of versions that did not check it

  bool learned() const { return check && check->learned; }

  template <class Visit>
  static void fields(Visit visit) {
    visit("run", &StudyTaskCheck::run);
    visit("seed", &StudyTaskCheck::seed);
    visit("fold", &StudyTaskCheck::fold);
    visit("check", &StudyTaskCheck::check);
  }
};

struct StudyResults {
  Record declaration;
  std::string precision;
  Index cells_planned = 0;
  Index family = 0;                     // number of comparisons that are tested together
  std::vector<std::string> conditions;  // "pace gradual, prune 12"
  std::vector<TrainWords> levels;       // of the factors, for each condition
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

  template <class Visit>
  static void fields(Visit visit) {
    visit("declaration", &StudyResults::declaration);
    visit("precision", &StudyResults::precision);
    visit("cells_planned", &StudyResults::cells_planned);
    visit("family", &StudyResults::family);
    visit("conditions", &StudyResults::conditions);
    visit("levels", &StudyResults::levels);
    visit("arms", &StudyResults::arms);
    visit("controls", &StudyResults::controls);
    visit("means", &StudyResults::means);
    visit("contrasts", &StudyResults::contrasts);
    visit("effects", &StudyResults::effects);
    visit("agreement", &StudyResults::agreement);
    visit("regret", &StudyResults::regret);
    visit("regret_contrasts", &StudyResults::regret_contrasts);
    visit("task_checks", &StudyResults::task_checks);
    visit("roles", &StudyResults::roles);
    visit("cells", &StudyResults::cells);
  }
};

/// Returns whether larger values of a measure are better.
bool higher_is_better(const std::string& measure);

/// Fills in means, contrasts and effects from cells, and contrasts of regrets.
void summarise(const StudyDeclaration& declaration, const StudyPlan& plan, StudyResults& results);

/// The results of the runs that are done in the folder of a study. They do not depend on the time
/// and number of copies of the training. Throws FileError for malformed files, and for runs whose
/// metrics.jsonl is not the one of their checkpoint.
StudyResults results_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                        const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
