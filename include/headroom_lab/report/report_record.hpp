// ReportRecord: the record of a run with what a comparison of models adds, from which a page is
// made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// max |difference| / max |value| of the worst tensor of two models at the start, key biases apart.
struct StartDifference {
  double forward = 0;
  std::optional<double> parameter_gradient{}, input_gradient{};
  std::optional<double> tolerance{};  // the largest that rounding explains
  bool operator==(const StartDifference&) const = default;
  using T = StartDifference;
  using Fields = Listed<&T::forward, if_any<&T::parameter_gradient>, if_any<&T::input_gradient>,
                        if_any<&T::tolerance>>;
};

/// The same after a step: of the outputs, of all parameters, of the key biases.
struct DifferenceLine {
  Index step = 0;
  std::optional<double> forward{}, parameter{}, key_bias{};
  bool operator==(const DifferenceLine&) const = default;
  using T = DifferenceLine;
  using Fields = Listed<&T::step, if_any<&T::forward>, if_any<&T::parameter>, if_any<&T::key_bias>>;
};

/// The first step after which parameters differed by more than the threshold; none: they never did.
struct Divergence {
  std::optional<Index> step{};
  double threshold = 0;
  bool operator==(const Divergence&) const = default;
  using T = Divergence;
  using Fields = Listed<&T::step, &T::threshold>;
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
  using T = ComparisonRow;
  using Fields =
      Listed<&T::label, if_any<&T::steps>, if_any<&T::heads>, if_any<&T::exact_match>,
             if_any<&T::step_ms>, if_any<&T::attention_ms>, if_any<&T::step_flops>,
             if_any<&T::attention_flops>, if_any<&T::parameters>, if_any<&T::memory_bytes>>;
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
  using T = CriterionRecord;
  using Fields = Listed<&T::name, if_any<&T::formula>, if_any<&T::chose>, &T::importance>;
};

/// Sums over all heads after a step: of the metric sensitivity, and of what removing each head
/// alone costs, in nats per example.
struct ImportanceSums {
  Index step = 0;
  double sensitivity = 0, cost = 0;
  bool operator==(const ImportanceSums&) const = default;
  using T = ImportanceSums;
  using Fields = Listed<&T::step, &T::sensitivity, &T::cost>;
};

/// One way to choose the heads that are cut all at once from a trained model, which then trains on.
/// Each list has a value per draw of the choice.
struct ArmRecord {
  std::string choice{};             // "random"
  Index removed = 0;                // heads
  std::vector<double> cut{};        // exact match right after the cut, a share
  std::vector<double> recovered{};  // and after further training
  bool operator==(const ArmRecord&) const = default;
  using T = ArmRecord;
  using Fields = Listed<&T::choice, &T::removed, &T::cut, &T::recovered>;
};

/// Several ways to choose heads, compared on the same model.
struct ArmsRecord {
  Index recovery = 0;       // training steps after the cut
  Index test_examples = 0;  // that exact match was measured on
  std::string chosen_by{};  // the name of the choice that is compared with the others
  std::vector<ArmRecord> arms{};
  bool operator==(const ArmsRecord&) const = default;
  using T = ArmsRecord;
  using Fields = Listed<&T::recovery, &T::test_examples, &T::chosen_by, &T::arms>;
};

/// A run or a comparison of runs. Everything but the title may be left out; a page leaves out the
/// sections whose records are missing.
struct ReportRecord : RunRecord {
  std::optional<StartDifference> separate_vs_fused{};
  std::vector<DifferenceLine> differences{};
  std::optional<Divergence> parted_at{};
  std::vector<CriterionRecord> criteria{};
  // Rank correlation of the heads' costs between two halves of the examples that measured them.
  std::optional<double> cost_reliability{};
  std::vector<ImportanceSums> importance_sums{};  // over training
  std::optional<ArmsRecord> arms{};
  std::vector<ComparisonRow> before_after{};
  bool operator==(const ReportRecord&) const = default;
  using T = ReportRecord;
  using Fields =
      Joined<RunRecord::Fields,
             Listed<if_any<&T::separate_vs_fused>, if_any<&T::differences>, if_any<&T::parted_at>,
                    if_any<&T::criteria>, if_any<&T::cost_reliability>, if_any<&T::importance_sums>,
                    if_any<&T::arms>, if_any<&T::before_after>>>;
};

/// The record that a JSON text holds, checked by check(). `origin` names the file in errors. Throws
/// DataError: `records.json: heads[3].layer must be a whole number, not "x"`.
ReportRecord report_record(const Record& json, const std::string& origin);

/// Throws DataError unless the parts fit together: as check() of a RunRecord; besides, criteria
/// have a number for each head, and an arm has as many results after the cut as after recovery.
void check(const ReportRecord& run, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
