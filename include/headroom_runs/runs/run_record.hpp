// RunRecord: the record of a training run or of a comparison of models, from which a page is made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/io/fields.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_measure/pruning/pruning_history.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// Each struct lists its fields once; JSON out (json_of), JSON in and the errors for JSON that does
// not fit follow from the list (io/fields.hpp). A field that may be missing from JSON is marked
// `if_any` or is a std::optional. Numbers that are not finite are null in JSON.

/// One number for all models of a run, or one per model. In JSON a number, or an object of numbers.
class PerModel {
 public:
  PerModel() = default;
  /// One for all models.
  PerModel(double value) : values_{{"", value}} {}
  /// One for each model, by its name.
  PerModel(std::vector<std::pair<std::string, double>> values) : values_(std::move(values)) {}
  bool operator==(const PerModel&) const = default;

  bool given() const { return !values_.empty(); }
  bool by_model() const { return given() && !values_[0].first.empty(); }
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }
  /// The model's number, or the one for all; none when it is missing or not finite.
  std::optional<double> of(const std::string& model) const;
  /// Over the finite numbers; none without any.
  std::optional<double> mean() const;
  /// The smallest and the largest of the finite numbers; none without any.
  std::optional<std::pair<double, double>> range() const;

 private:
  std::vector<std::pair<std::string, double>> values_;  // the only one's name is empty
};

// Their JSON form.
/// Its JSON, and back. Throws DataError.
Record json_of(const PerModel& numbers);
void read_json(const JsonNode& from, PerModel& to);

/// One measurement of a model: a line of metrics.jsonl.
struct MetricsLine {
  Index step = 0;
  std::string model{};                      // empty when the run has only one
  std::string phase{};                      // of the run, such as "learning"
  std::map<std::string, double> numbers{};  // loss (training), validation_loss; others are measures
  bool operator==(const MetricsLine&) const = default;
  /// None when it is missing or not finite.
  std::optional<double> number(const std::string& key) const;
  using T = MetricsLine;
  using Fields = Listed<&T::step, if_any<&T::model>, if_any<&T::phase>, all_others<&T::numbers>>;
};

/// A number for every head, in the order of TelemetryLine::heads, for each block of a head: its
/// rows of W_Q, W_K, W_V and its columns of W_O.
struct BlockNumbers {
  std::vector<double> query{}, key{}, value{}, output{};
  bool operator==(const BlockNumbers&) const = default;
  using T = BlockNumbers;
  using Fields = Listed<&T::query, &T::key, &T::value, &T::output>;
};

/// The kinds of lines in metrics.jsonl other than measurements of the model.
enum class LineKind { heads, lives };

/// Measurements of every live head at one step: a line of HeadTelemetry. Each list has a value
/// for every head in `heads`.
struct TelemetryLine {
  Index step = 0;
  std::optional<LineKind> record = LineKind::heads;
  std::string model{};  // empty when the run has only one
  std::vector<HeadId> heads{};
  BlockNumbers gradient_norm{};
  std::vector<double> gate_gradient{}, entropy{}, confidence{};
  BlockNumbers update_ratio{};
  bool operator==(const TelemetryLine&) const = default;
  using T = TelemetryLine;
  using Fields = Listed<&T::step, &T::record, if_any<&T::model>, &T::heads, &T::gradient_norm,
                        &T::gate_gradient, &T::entropy, &T::confidence, &T::update_ratio>;
};

/// Which values of a measure are the better ones.
enum class Better { higher, lower };

/// A quality that the page draws beside the loss.
struct MeasureRecord {
  std::string key{}, name{};  // in MetricsLine::numbers; in texts
  std::string unit{};         // "%": the numbers are fractions
  Better better = Better::higher;
  std::optional<double> goal{};
  bool operator==(const MeasureRecord&) const = default;
  using T = MeasureRecord;
  using Fields = Listed<&T::key, &T::name, if_any<&T::unit>, &T::better, if_any<&T::goal>>;
};

/// One head of the model that the run began with.
struct HeadRecord {
  HeadId id{};                        // with the original number of the head
  std::optional<Index> removed_at{};  // the step after which it was removed; none: it is alive
  PerModel importance{};
  std::optional<double> cost{};  // see RunRecord::cost_name
  bool operator==(const HeadRecord&) const = default;
  using T = HeadRecord;
  using Fields =
      Listed<fields_of<&T::id>, &T::removed_at, if_any<&T::importance>, if_any<&T::cost>>;
};

/// How many heads were alive after a step.
struct ScheduleLine {
  Index step = 0, alive = 0;
  bool operator==(const ScheduleLine&) const = default;
  using T = ScheduleLine;
  using Fields = Listed<&T::step, &T::alive>;
};

/// The attention weights of one head on one example: a row per query, a weight per key.
struct MapRecord {
  HeadId id{};
  std::vector<std::vector<double>> rows{};
  bool operator==(const MapRecord&) const = default;
  using T = MapRecord;
  using Fields = Listed<fields_of<&T::id>, &T::rows>;
};

/// One example with its tokens and maps. Maps of the encoder are source x source, of
/// cross-attention target x source, of the decoder target x decoder_input. Row i belongs to the
/// prediction of target[i]. Without decoder_input it is the target shifted by one. A removed head
/// may have a map from before its removal.
struct ExampleRecord {
  std::vector<std::string> source{}, target{}, decoder_input{};
  std::vector<MapRecord> maps{};
  bool operator==(const ExampleRecord&) const = default;
  using T = ExampleRecord;
  using Fields =
      Listed<if_any<&T::source>, if_any<&T::target>, if_any<&T::decoder_input>, &T::maps>;
};

/// Measurements of every live head at a few steps of a run that removes heads: a line of HeadLives.
/// Each list has a value for every head in `heads`.
struct LifeLine {
  Index step = 0;
  std::optional<LineKind> record = LineKind::lives;
  std::string model{};  // empty when the run has only one
  std::vector<HeadId> heads{};
  Index examples = 0;  // that the losses are means of
  /// dL/dg_h at g_h = 1, and the rise of L when g_h = 0, the other gates 1.
  std::vector<double> gate_gradient{}, cost{};
  std::optional<ExampleRecord> example{};  // the same at all steps, with the maps of that step
  bool operator==(const LifeLine&) const = default;
  using T = LifeLine;
  using Fields = Listed<&T::step, &T::record, if_any<&T::model>, &T::heads, &T::examples,
                        &T::gate_gradient, &T::cost, if_any<&T::example>>;
};

/// A run. Everything but the title may be left out; a page leaves out the sections whose records
/// are missing.
struct RunRecord {
  std::string title{}, task{};
  std::optional<std::uint64_t> seed{};
  std::string command{};
  std::vector<std::string> models{};      // order and colours; default: as the metrics name them
  std::vector<MeasureRecord> measures{};  // default: those of train/measures.hpp that occur
  std::vector<MetricsLine> metrics{};
  std::vector<TelemetryLine> telemetry{};  // of one model
  std::vector<LifeLine> lives{};           // of one model
  std::optional<TaskCheck> task_check{};   // of the model at the end
  std::vector<HeadRecord> heads{};
  std::string importance_name{}, cost_name{};  // for the page, in words
  std::vector<ScheduleLine> schedule{};
  std::vector<PruningEvent> timeline{};  // in the order of their steps
  std::vector<ExampleRecord> examples{};
  Record config = Record::object(), environment = Record::object();  // shown as they are
  bool operator==(const RunRecord&) const = default;
  using T = RunRecord;
  using Fields =
      Listed<&T::title, if_any<&T::task>, if_any<&T::seed>, if_any<&T::command>, if_any<&T::models>,
             if_any<&T::measures>, if_any<&T::metrics>, if_any<&T::telemetry>, if_any<&T::lives>,
             if_any<&T::task_check>, if_any<&T::heads>, if_any<&T::importance_name>,
             if_any<&T::cost_name>, if_any<&T::schedule>, if_any<&T::timeline>,
             if_any<&T::examples>, if_any<&T::config>, if_any<&T::environment>>;
};

/// Adds a line of metrics.jsonl to a record: telemetry if it has a "record", else measurements. A
/// line without a step, such as an event, is left out. Throws DataError naming `origin`.
void add_log_line(const Record& line, const std::string& origin, RunRecord& run);

/// Throws DataError unless the parts fit together: maps have a row per query and a weight per key,
/// telemetry has a number for each head and is of one model, an event has a score for each head
/// that was scored, config and environment are objects.
void check(const RunRecord& run, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
