// Numbers of a study that findings, tables and page share. Private.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/study/results.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The measure by which the smallest acceptable model is chosen: the first one, on the validation
/// set if the declaration has it there, too.
std::string choice_measure(const StudyResults& results);
/// The measure that reports a choice: the same one on the test set if the declaration has it there,
/// else that of the choice, whose value the choice has made look better than it is.
std::string report_measure(const StudyResults& results);

/// The comparisons of arms, not of controls, with the model with all heads, by choice_measure().
std::vector<const StudyContrast*> from_all_heads(const StudyResults& results);

/// The factor from a measure to its numbers in tables: 100 for a share, else 1.
double scale_of(const std::string& measure);
/// A measure in words with its unit: "exact match (%)".
std::string measure_title(const std::string& measure);

/// Conditions that differ only in the number of removed heads. A chart shows one group.
struct StudyGroup {
  std::string text;  // the other levels: "pace gradual"
  std::vector<Index> conditions;
  bool has(Index condition) const;

  using T = StudyGroup;
  using Fields = Listed<&T::text, &T::conditions>;
};
std::vector<StudyGroup> groups_of(const StudyResults& results);

/// The mean time of a forward pass of these runs' models in milliseconds; nothing if a time is
/// missing, or if there are no runs.
std::optional<double> latency_of(const StudyResults& results,
                                 const std::vector<std::string>& cells);
/// Says how these times were measured, or that they were not.
std::string latency_text(const StudyResults& results);
/// The runs of an arm or control under a condition, by key.
std::vector<std::string> cells_of(const StudyResults& results, Index condition,
                                  const std::string& arm);

/// A row for each run that is done: its roles, sizes, measures, settings, time and machine.
Table cells_table(const StudyResults& results);
/// A row for each score of a head.
Table head_scores_table(const StudyResults& results);
/// [{condition, arm, runs: [{seed, points: [[step, validation loss], ...]}, ...]}, ...], at most 50
/// points of each run.
Record learning_curves(const StudyResults& results);

/// The tables of each section, without those that have no rows.
std::vector<std::vector<Table>> study_tables(const StudyResults& results);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
