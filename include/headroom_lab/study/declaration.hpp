// StudyDeclaration: the comparisons of a study, which a file declares before any training.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/io/fields.hpp"
#include "headroom_runs/runs/setting.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Runs that are compared with those of the arms.
enum class StudyControl {
  none,                     // keeps all heads and trains for the same number of steps
  random,                   // removes random heads
  same_allocation,          // random heads: in each attention as many as the reference arm removes
  costliest_first,          // the heads whose removal costs most (leave_one_out), in that order
  same_mask_reinitialised,  // new weights, without the reference arm's removed heads from the start
  small_from_start          // the final number of heads from the start, spread over all attentions
};

// A study's words are settings (headroom_runs/runs/setting.hpp) with one value, or with a list of
// values that the study compares. A factor may also be an object with named levels, each of which
// sets several settings:
// ```
// {"pace": {"at once": {"prune_schedule": "one_shot"},
//           "slowly": {"prune_schedule": "gradual", "prune_over": 200}}}
// ```

/// The part of training that the runs of a seed share.
struct StudyTrunk {
  Index until = 0;             // its last step
  GivenSettings factors = {};  // options in which trunks differ

  using T = StudyTrunk;
  using Fields = Listed<&T::until, if_any<&T::factors>>;
};

/// The family of comparisons that is tested together.
struct StudyContrasts {
  /// An arm or a control, with which all arms are compared; a list of such names; or a list of
  /// pairs, ["arm", "other arm"]. See compared_pairs().
  Record against = "random";
  std::vector<std::string> measures = {};  // empty: the first measure
  std::string correction = "holm";
  /// Rules as in StudyDeclaration::only, also for a "measure": the comparisons of the family.
  std::vector<GivenSettings> only = {};

  using T = StudyContrasts;
  using Fields =
      Listed<if_any<&T::against>, if_any<&T::measures>, if_any<&T::correction>, if_any<&T::only>>;
};

/// How the heads of each trunk are scored.
struct StudyImportance {
  std::string metrics = "cheap";  // as in importance --metric
  Index examples = 256;
  bool oracle = false;  // also measures all subsets of heads, for the regret

  using T = StudyImportance;
  using Fields = Listed<if_any<&T::metrics>, if_any<&T::examples>, if_any<&T::oracle>>;
};

/// A study compares arms (ways of removing heads) under every condition (a combination of levels of
/// its factors). Each arm is trained once for every seed. docs/studies.md describes the fields.
struct StudyDeclaration {
  std::string name, question;
  GivenSettings base;  // options of all runs
  std::vector<Index> seeds;
  StudyTrunk trunk;
  GivenSettings factors;            // options after the trunk, also of runs that remove nothing
  GivenSettings removal;            // options of runs that remove heads
  Record arms;                      // name: options; or an option: list of its values
  std::vector<GivenSettings> only;  // rules that leave out combinations
  std::vector<StudyControl> controls;
  std::string reference;                        // the arm that controls copy; empty: the first
  std::vector<std::string> same_allocation_of;  // arms; empty: the reference
  Index random_draws = 5;
  std::optional<Index> allocation_draws;  // of same_allocation; none: random_draws
  /// Of cross-validation: each run is made once for every fold, a part of its data that it is
  /// tested on. 1: the task's own test set.
  Index folds = 1;
  std::vector<std::string> measures;
  StudyContrasts contrasts;
  StudyImportance importance;
  double acceptable_loss = 0.01;  // of the first measure, against `none`; for the decision
  Index processes = 2;

  using T = StudyDeclaration;
  using Fields =
      Listed<&T::name, if_any<&T::question>, &T::base, &T::seeds, &T::trunk, if_any<&T::factors>,
             &T::removal, &T::arms, if_any<&T::only>, if_any<&T::controls>, if_any<&T::reference>,
             if_any<&T::same_allocation_of>, if_any<&T::random_draws>, if_any<&T::allocation_draws>,
             if_any<&T::folds>, &T::measures, if_any<&T::contrasts>, if_any<&T::importance>,
             if_any<&T::acceptable_loss>, if_any<&T::processes>>;
};

/// The options of an arm.
struct StudyArm {
  std::string name;
  GivenSettings options;
};
/// All arms of a declaration, in the order of its file.
std::vector<StudyArm> arms_of(const StudyDeclaration& declaration);
/// The levels of a factor: the values of a list, the names of an object, or the one value.
std::vector<Record> levels_of(const Record& value);
/// The options that a level sets: the factor itself, or those of a named level.
GivenSettings options_of(const std::string& factor, const Record& levels, const Record& level);
/// The arms whose allocation of heads the control same_allocation copies, each with the name of its
/// control: same_allocation, or "same_allocation of NAME" if there are several.
std::vector<std::pair<std::string, std::string>> allocations_of(const StudyDeclaration&);
/// The comparisons of `contrasts.against`: each arm with each name in it, except itself, and the
/// pairs in it. Of two comparisons of the same pair the first stays.
std::vector<std::pair<std::string, std::string>> compared_pairs(const StudyDeclaration&);
/// The arm or control of `contrasts.against` with which titles compare the arms: the first name in
/// it, or the second one of its first pair.
std::string reference_of(const StudyContrasts& contrasts);
/// A level as text without quotes.
std::string plain_text(const Record& value);
/// Reads a declaration. Throws FileError for a file that cannot be read, DataError for fields and
/// options that do not exist (with the nearest) or do not fit together, or make more than 20,000
/// runs.
StudyDeclaration read_declaration(const std::filesystem::path& file);
/// The same for a JSON text that was read from `origin`.
StudyDeclaration declaration_of(const Record& record, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
