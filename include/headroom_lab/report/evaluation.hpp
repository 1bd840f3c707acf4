// The evaluation of a trained model on a set of examples: as a record, in the terminal, and as a
// page with the worst examples and their attention maps.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/blocks/table.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "headroom_runs/use/scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An example of the page, with its attention maps if the page does not compute them itself.
struct WorstExample {
  ScoredExample scores{};
  std::optional<std::string> given{};  // the output whose attention is shown; none: the model's
  std::string asked{};                 // the input that goes with it
  std::optional<ExampleRecord> example{};
  std::optional<Answer> answer{};
  using T = WorstExample;
  using Fields = Listed<fields_of<&T::scores>, if_any<&T::given>, &T::asked, if_any<&T::example>,
                        if_any<&T::answer>>;
};

/// The record of an evaluation, from which terminal text, page and JSON are made.
struct EvaluationRecord {
  std::string kind = "evaluation";
  std::string model{}, task{}, data{};         // checkpoint; name; "the test set of the run"
  Index examples = 0, wrong = 0;               // wrong: 0 for a text
  std::string notes{};                         // lines about what was left out or is unknown
  std::map<std::string, Interval> measures{};  // by their keys
  std::vector<Table> tables{};
  std::vector<WorstExample> worst{};
  using T = EvaluationRecord;
  using Fields = Listed<&T::kind, &T::model, &T::task, &T::data, &T::examples, &T::wrong,
                        if_any<&T::notes>, &T::measures, &T::tables, &T::worst>;
};

/// Measures with 95 % intervals, of all examples, by length and by class, confusions, and the
/// `worst` examples, without maps.
EvaluationRecord evaluation_record(const Scores& scores, std::size_t worst = 50);

/// The number of examples and the tables.
std::string evaluation_text(const EvaluationRecord& record, const TerminalStyle& style);

/// The attention of the first of the worst examples, which the page shows when it is opened. Adds
/// maps to the other ones where the page cannot compute them: where a symbol is unknown, or where
/// it is without the model, which is too large; up to `most_bytes` of JSON.
AttentionRecord attention_of_worst(EvaluationRecord& record, const SavedModel& saved,
                                   std::size_t most_bytes = std::size_t(6) << 20);

/// The page as text: the tables, the worst examples, and the maps of one of them, as on the page of
/// attend_page(). Throws UsageError if `shown` has no page_model.
std::string evaluation_page(const EvaluationRecord& record, const AttentionRecord& shown);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
