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
  Interval mean = {};                       // over seeds, with the 95 % t-interval
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

/// The difference of an arm or control from another one under the same condition, paired by seed.
struct StudyContrast {
  Index condition = 0;
  std::string arm, against, measure;
  bool in_family = false;           // belongs to the comparisons that are tested together
  Interval difference = {};         // mean over the seeds that both have, with the 95 % t-interval
  double p = 1;                     // of Student's t-test of "there is no difference"
  std::optional<double> holm = {};  // p corrected for the whole family, done or not
  std::vector<SeedValue> seeds = {};

  template <class Visit>
  static void fields(Visit visit) {
    visit("condition", &StudyContrast::condition);
    visit("arm", &StudyContrast::arm);
    visit("against", &StudyContrast::against);
    visit("measure", &StudyContrast::measure);
    visit("in_family", &StudyContrast::in_family);
    visit("difference", &StudyContrast::difference);
    visit("p", &StudyContrast::p);
    visit("holm", &StudyContrast::holm);
    visit("seeds", &StudyContrast::seeds);
  }
};

/// The difference between two levels of a factor, all else being equal: the mean over all arms,
/// random heads and other levels that both have, paired by seed.
struct StudyEffect {
  std::string factor, level, against, measure;
  Interval difference = {};
  double p = 1;     // as StudyContrast::p
  Index pairs = 0;  // number of pairs of means in each seed

  template <class Visit>
  static void fields(Visit visit) {
    visit("factor", &StudyEffect::factor);
    visit("level", &StudyEffect::level);
    visit("against", &StudyEffect::against);
    visit("measure", &StudyEffect::measure);
    visit("difference", &StudyEffect::difference);
    visit("p", &StudyEffect::p);
    visit("pairs", &StudyEffect::pairs);
  }
};

/// Spearman's rank correlation of two metrics over the heads of a trunk, mean over seeds.
struct StudyAgreement {
  std::string x, y;
  Interval correlation = {};

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

  template <class Visit>
  static void fields(Visit visit) {
    visit("game", &StudyRegret::game);
    visit("metric", &StudyRegret::metric);
    visit("kept", &StudyRegret::kept);
    visit("regret", &StudyRegret::regret);
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
    visit("roles", &StudyResults::roles);
    visit("cells", &StudyResults::cells);
  }
};

/// Returns whether larger values of a measure are better.
bool higher_is_better(const std::string& measure);

/// Fills in means, contrasts and effects from cells.
void summarise(const StudyDeclaration& declaration, const StudyPlan& plan, StudyResults& results);

/// The results of the runs that are done in the folder of a study. They do not depend on the time
/// and number of copies of the training. Throws FileError for malformed files.
StudyResults results_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                        const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
