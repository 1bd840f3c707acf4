// Pages of studies. They depend on results, not on models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_lab/study/results.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes the page of a study from the runs that are done: ten sections, from the scores of heads
/// to the decision. Throws FileError as write_report() does.
void write_study_page(const StudyResults& results, const std::filesystem::path& file);

/// The page as text, with the given Chart.js in it.
std::string study_page(const StudyResults& results, const std::string& chart_js);

/// A section of a study's page. Its finding and tables are computed from the results.
struct StudySection {
  std::string name;  // "Threshold selection"
  Finding finding;
  std::vector<Table> tables;  // shares are in percent

  using T = StudySection;
  using Fields = Listed<&T::name, &T::finding, &T::tables>;
};

/// The ten sections: attention head scores, pruning candidates, model performance, importance vs.
/// performance, threshold selection, pruning and speed evaluation, comparative analysis, iterative
/// refinement, cross-validation, reporting and decision.
std::vector<StudySection> study_sections(const StudyResults& results);

/// Where, when and by what the runs were trained, and how long they took. The title is
/// StudyProvenance::warning if there is one. The page shows it after the ten sections.
StudySection study_provenance(const StudyResults& results);

/// The sections and study_provenance() for a terminal: titles and tables. Of a table that the page
/// folds or shades, it names the file of write_study_tables().
std::string study_text(const StudyResults& results, const TerminalStyle& style);

/// Writes every table of the sections and of study_provenance() into the folder, as
/// "07-comparisons-of-the-family.csv". Tables of an earlier time are removed. Also writes every run
/// with its settings and measures, cells.csv, and every score of a head, head-scores.csv. Throws
/// FileError.
void write_study_tables(const StudyResults& results, const std::filesystem::path& folder);

/// An arm under a condition whose first measure is worse than that of the model with all heads by
/// no more than the declaration accepts, for the whole 95 % interval of the difference, which has
/// at least fewest_seeds seeds.
struct AcceptableLoss {
  Index condition = 0;
  std::string arm;
  double heads = 0;  // the number of heads left
};
/// All acceptable arms, in ascending order of their heads; none if study_warning() has a reason to
/// compare nothing.
std::vector<AcceptableLoss> acceptable_losses(const StudyResults& results);

/// "The models have not learned the task: with all heads, 3 of 5 are not clearly better than the
/// best constant answer (seed 1: accuracy 51.4 %, best constant answer 50.3 %)", by
/// StudyResults::task_checks; empty if all have learned it. Then no title compares heads or arms,
/// and there is no decision: all differences are noise.
std::string study_warning(const StudyResults& results);

/// A measure in words: "exact match on the test set, right after the last removal" for
/// "cut.test.exact_match".
std::string measure_in_words(const std::string& measure);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
