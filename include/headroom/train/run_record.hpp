// RunRecord: the record of a training run or of a comparison of models, from which a page is made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/train/task_check.hpp"

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

// Their JSON forms; a head is the text of its HeadId.
Record json_of(const PerModel& numbers);
void read_json(const JsonNode& from, PerModel& to);
Record json_of(const HeadId& head);
void read_json(const JsonNode& from, HeadId& to);

/// One measurement of a model: a line of metrics.jsonl.
struct MetricsLine {
  Index step = 0;
  std::string model{};                      // empty when the run has only one
  std::string phase{};                      // of the run, such as "learning"
  std::map<std::string, double> numbers{};  // loss (training), validation_loss; others are measures
  bool operator==(const MetricsLine&) const = default;
  /// None when it is missing or not finite.
  std::optional<double> number(const std::string& key) const;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &MetricsLine::step);
    visit("model", &MetricsLine::model, Presence::if_any);
    visit("phase", &MetricsLine::phase, Presence::if_any);
    visit(the_rest, &MetricsLine::numbers);
  }
};

/// A number for every head, in the order of TelemetryLine::heads, for each block of a head: its
/// rows of W_Q, W_K, W_V and its columns of W_O.
struct BlockNumbers {
  std::vector<double> query{}, key{}, value{}, output{};
  bool operator==(const BlockNumbers&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("query", &BlockNumbers::query);
    visit("key", &BlockNumbers::key);
    visit("value", &BlockNumbers::value);
    visit("output", &BlockNumbers::output);
  }
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
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &TelemetryLine::step);
    visit("record", &TelemetryLine::record);
    visit("model", &TelemetryLine::model, Presence::if_any);
    visit("heads", &TelemetryLine::heads);
    visit("gradient_norm", &TelemetryLine::gradient_norm);
    visit("gate_gradient", &TelemetryLine::gate_gradient);
    visit("entropy", &TelemetryLine::entropy);
    visit("confidence", &TelemetryLine::confidence);
    visit("update_ratio", &TelemetryLine::update_ratio);
  }
};

enum class Better { higher, lower };

/// A quality that the page draws beside the loss.
struct MeasureRecord {
  std::string key{}, name{};  // in MetricsLine::numbers; in texts
  std::string unit{};         // "%": the numbers are fractions
  Better better = Better::higher;
  std::optional<double> goal{};
  bool operator==(const MeasureRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("key", &MeasureRecord::key);
    visit("name", &MeasureRecord::name);
    visit("unit", &MeasureRecord::unit, Presence::if_any);
    visit("better", &MeasureRecord::better);
    visit("goal", &MeasureRecord::goal, Presence::if_any);
  }
};

/// max |difference| / max |value| of the worst tensor of two models at the start, key biases apart.
struct StartDifference {
  double forward = 0;
  std::optional<double> parameter_gradient{}, input_gradient{};
  std::optional<double> tolerance{};  // the largest that rounding explains
  bool operator==(const StartDifference&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("forward", &StartDifference::forward);
    visit("parameter_gradient", &StartDifference::parameter_gradient, Presence::if_any);
    visit("input_gradient", &StartDifference::input_gradient, Presence::if_any);
    visit("tolerance", &StartDifference::tolerance, Presence::if_any);
  }
};

/// The same after a step: of the outputs, of all parameters, of the key biases.
struct DifferenceLine {
  Index step = 0;
  std::optional<double> forward{}, parameter{}, key_bias{};
  bool operator==(const DifferenceLine&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &DifferenceLine::step);
    visit("forward", &DifferenceLine::forward, Presence::if_any);
    visit("parameter", &DifferenceLine::parameter, Presence::if_any);
    visit("key_bias", &DifferenceLine::key_bias, Presence::if_any);
  }
};

/// The first step after which parameters differed by more than the threshold; none: they never did.
struct Divergence {
  std::optional<Index> step{};
  double threshold = 0;
  bool operator==(const Divergence&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &Divergence::step);
    visit("threshold", &Divergence::threshold);
  }
};

/// One head of the model that the run began with.
struct HeadRecord {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0, head = 0;          // from 0; `head` is the original number
  std::optional<Index> removed_at{};  // the step after which it was removed; none: it is alive
  PerModel importance{};
  std::optional<double> cost{};  // see RunRecord::cost_name
  bool operator==(const HeadRecord&) const = default;
  HeadId id() const { return {kind, layer, head}; }
  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &HeadRecord::kind);
    visit("layer", &HeadRecord::layer);
    visit("head", &HeadRecord::head);
    visit("removed_at", &HeadRecord::removed_at);
    visit("importance", &HeadRecord::importance, Presence::if_any);
    visit("cost", &HeadRecord::cost, Presence::if_any);
  }
};

/// How many heads were alive after a step.
struct ScheduleLine {
  Index step = 0, alive = 0;
  bool operator==(const ScheduleLine&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &ScheduleLine::step);
    visit("alive", &ScheduleLine::alive);
  }
};

/// A change of the set of heads after a step, or a measurement of heads for later changes.
struct PruningEvent {
  Index step = 0;
  std::string by{};  // the metric, chooser or gates that decided
  std::vector<HeadId> removed{}, regrown{};
  std::vector<HeadId> heads{};   // that were scored, before the change; none: no head was
  std::vector<double> scores{};  // of these heads; larger is more important
  bool operator==(const PruningEvent&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &PruningEvent::step);
    visit("by", &PruningEvent::by, Presence::if_any);
    visit("removed", &PruningEvent::removed, Presence::if_any);
    visit("regrown", &PruningEvent::regrown, Presence::if_any);
    visit("heads", &PruningEvent::heads, Presence::if_any);
    visit("scores", &PruningEvent::scores, Presence::if_any);
  }
};

/// One state of the run's models, measured on unseen examples and timed. Models with and without
/// removal are told apart by `steps` and `heads`, never by the label.
struct ComparisonRow {
  std::string label{};                 // as tables show it: "before"
  std::optional<Index> steps{};        // training steps that the models had done
  std::optional<Index> heads{};        // live heads of one model
  PerModel exact_match{};              // a share
  PerModel step_ms{}, attention_ms{};  // of a training step; of it in attention
  // Multiplications and additions of the matrix products of such a step; of those in attention.
  std::optional<double> step_flops{}, attention_flops{};
  PerModel parameters{}, memory_bytes{};
  bool operator==(const ComparisonRow&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("label", &ComparisonRow::label);
    visit("steps", &ComparisonRow::steps, Presence::if_any);
    visit("heads", &ComparisonRow::heads, Presence::if_any);
    visit("exact_match", &ComparisonRow::exact_match, Presence::if_any);
    visit("step_ms", &ComparisonRow::step_ms, Presence::if_any);
    visit("attention_ms", &ComparisonRow::attention_ms, Presence::if_any);
    visit("step_flops", &ComparisonRow::step_flops, Presence::if_any);
    visit("attention_flops", &ComparisonRow::attention_flops, Presence::if_any);
    visit("parameters", &ComparisonRow::parameters, Presence::if_any);
    visit("memory_bytes", &ComparisonRow::memory_bytes, Presence::if_any);
  }
};

/// Returns true if a measured speed-up is more than 10 % above its ceiling, the ratio of the
/// arithmetic: then it is due to noise in the times.
inline bool beyond_arithmetic(double speed_up, double ceiling) { return speed_up > 1.1 * ceiling; }

/// The judgement of one metric on the heads.
struct CriterionRecord {
  std::string name{}, formula{};     // of the metric
  bool chose = false;                // whether the removed heads were chosen by it
  std::vector<double> importance{};  // in the order of RunRecord::heads; larger: more important
  bool operator==(const CriterionRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("name", &CriterionRecord::name);
    visit("formula", &CriterionRecord::formula, Presence::if_any);
    visit("chose", &CriterionRecord::chose, Presence::if_any);
    visit("importance", &CriterionRecord::importance);
  }
};

/// Sums over all heads after a step: of the metric sensitivity, and of what removing each head
/// alone costs, in nats per example.
struct ImportanceSums {
  Index step = 0;
  double sensitivity = 0, cost = 0;
  bool operator==(const ImportanceSums&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &ImportanceSums::step);
    visit("sensitivity", &ImportanceSums::sensitivity);
    visit("cost", &ImportanceSums::cost);
  }
};

/// One way to choose the heads that are cut all at once from a trained model, which then trains on.
/// Each list has a value per draw of the choice.
struct ArmRecord {
  std::string choice{};             // "random"
  Index removed = 0;                // heads
  std::vector<double> cut{};        // exact match right after the cut, a share
  std::vector<double> recovered{};  // and after further training
  bool operator==(const ArmRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("choice", &ArmRecord::choice);
    visit("removed", &ArmRecord::removed);
    visit("cut", &ArmRecord::cut);
    visit("recovered", &ArmRecord::recovered);
  }
};

/// Several ways to choose heads, compared on the same model.
struct ArmsRecord {
  Index recovery = 0;       // training steps after the cut
  Index test_examples = 0;  // that exact match was measured on
  std::string chosen_by{};  // the name of the choice that is compared with the others
  std::vector<ArmRecord> arms{};
  bool operator==(const ArmsRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("recovery", &ArmsRecord::recovery);
    visit("test_examples", &ArmsRecord::test_examples);
    visit("chosen_by", &ArmsRecord::chosen_by);
    visit("arms", &ArmsRecord::arms);
  }
};

/// The attention weights of one head on one example: a row per query, a weight per key.
struct MapRecord {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0, head = 0;
  std::vector<std::vector<double>> rows{};
  bool operator==(const MapRecord&) const = default;
  HeadId id() const { return {kind, layer, head}; }
  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &MapRecord::kind);
    visit("layer", &MapRecord::layer);
    visit("head", &MapRecord::head);
    visit("rows", &MapRecord::rows);
  }
};

/// One example with its tokens and maps. Maps of the encoder are source x source, of
/// cross-attention target x source, of the decoder target x decoder_input. Row i belongs to the
/// prediction of target[i]. Without decoder_input it is the target shifted by one. A removed head
/// may have a map from before its removal.
struct ExampleRecord {
  std::vector<std::string> source{}, target{}, decoder_input{};
  std::vector<MapRecord> maps{};
  bool operator==(const ExampleRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("source", &ExampleRecord::source, Presence::if_any);
    visit("target", &ExampleRecord::target, Presence::if_any);
    visit("decoder_input", &ExampleRecord::decoder_input, Presence::if_any);
    visit("maps", &ExampleRecord::maps);
  }
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
  template <class Visit>
  static void fields(Visit visit) {
    visit("step", &LifeLine::step);
    visit("record", &LifeLine::record);
    visit("model", &LifeLine::model, Presence::if_any);
    visit("heads", &LifeLine::heads);
    visit("examples", &LifeLine::examples);
    visit("gate_gradient", &LifeLine::gate_gradient);
    visit("cost", &LifeLine::cost);
    visit("example", &LifeLine::example, Presence::if_any);
  }
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
  std::optional<TaskCheck> task_check{};  // of the model at the end
  std::optional<StartDifference> separate_vs_fused{};
  std::vector<DifferenceLine> differences{};
  std::optional<Divergence> parted_at{};
  std::vector<HeadRecord> heads{};
  std::string importance_name{}, cost_name{};  // for the page, in words
  std::vector<CriterionRecord> criteria{};
  // Rank correlation of the heads' costs between two halves of the examples that measured them.
  std::optional<double> cost_reliability{};
  std::vector<ImportanceSums> importance_sums{};  // over training
  std::optional<ArmsRecord> arms{};
  std::vector<ScheduleLine> schedule{};
  std::vector<PruningEvent> timeline{};  // in the order of their steps
  std::vector<ComparisonRow> before_after{};
  std::vector<ExampleRecord> examples{};
  Record config = Record::object(), environment = Record::object();  // shown as they are
  bool operator==(const RunRecord&) const = default;
  template <class Visit>
  static void fields(Visit visit) {
    visit("title", &RunRecord::title);
    visit("task", &RunRecord::task, Presence::if_any);
    visit("seed", &RunRecord::seed, Presence::if_any);
    visit("command", &RunRecord::command, Presence::if_any);
    visit("models", &RunRecord::models, Presence::if_any);
    visit("measures", &RunRecord::measures, Presence::if_any);
    visit("metrics", &RunRecord::metrics, Presence::if_any);
    visit("telemetry", &RunRecord::telemetry, Presence::if_any);
    visit("lives", &RunRecord::lives, Presence::if_any);
    visit("task_check", &RunRecord::task_check, Presence::if_any);
    visit("separate_vs_fused", &RunRecord::separate_vs_fused, Presence::if_any);
    visit("differences", &RunRecord::differences, Presence::if_any);
    visit("parted_at", &RunRecord::parted_at, Presence::if_any);
    visit("heads", &RunRecord::heads, Presence::if_any);
    visit("importance_name", &RunRecord::importance_name, Presence::if_any);
    visit("cost_name", &RunRecord::cost_name, Presence::if_any);
    visit("criteria", &RunRecord::criteria, Presence::if_any);
    visit("cost_reliability", &RunRecord::cost_reliability, Presence::if_any);
    visit("importance_sums", &RunRecord::importance_sums, Presence::if_any);
    visit("arms", &RunRecord::arms, Presence::if_any);
    visit("schedule", &RunRecord::schedule, Presence::if_any);
    visit("timeline", &RunRecord::timeline, Presence::if_any);
    visit("before_after", &RunRecord::before_after, Presence::if_any);
    visit("examples", &RunRecord::examples, Presence::if_any);
    visit("config", &RunRecord::config, Presence::if_any);
    visit("environment", &RunRecord::environment, Presence::if_any);
  }
};

/// Adds a line of metrics.jsonl to a record: telemetry if it has a "record", else measurements. A
/// line without a step, such as an event, is left out. Throws DataError naming `origin`.
void add_log_line(const Record& line, const std::string& origin, RunRecord& run);

/// The record that a JSON text holds, checked by check(). `origin` names the file in errors. Throws
/// DataError: `records.json: heads[3].layer must be a whole number, not "x"`.
RunRecord run_record(const Record& json, const std::string& origin);

/// Throws DataError unless the parts fit together: maps have a row per query and a weight per key,
/// telemetry and criteria have a number for each head, telemetry is of one model, an event has a
/// score for each head that was scored, an arm has as many results after the cut as after recovery,
/// config and environment are objects.
void check(const RunRecord& run, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
