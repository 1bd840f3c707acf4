// The arms of the demo: the trained fused model, cut all at once by different choices of heads and
// trained on, as controls for the choice that the demo makes.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo/demo_setup.hpp"
#include "headroom/base/listed.hpp"
#include "headroom_lab/report/report_record.hpp"
#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/importance/head_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Every choice of the demo leaves at least one head of each kind of attention.
inline constexpr Budget demo_budget{.at_least_of_kind = 1};

/// The choice of the run that keeps all heads for as many steps as the demo trains its own models.
inline constexpr const char* as_long = "as long";

/// One training run of an arm. In JSON it is the order to a child process.
struct DemoCut {
  DemoSetup setup{};
  std::string checkpoint{};  // of the whole fused model
  std::string choice{};      // as in ArmRecord
  std::vector<HeadId> heads{};
  using T = DemoCut;
  using Fields = Listed<&T::setup, &T::checkpoint, &T::choice, &T::heads>;
};

/// The results of a cut: exact match on the test set, a share.
struct CutResult {
  double cut = 0, recovered = 0;
  using T = CutResult;
  using Fields = Listed<&T::cut, &T::recovered>;
};

/// The run `as_long`. Then the arms, which train for `recover_steps` only, since nothing is removed
/// in them step by step: no cut; and for both numbers of heads those that `chosen` (by the demo's
/// metric) names first, random ones (5 draws), and those with the highest costs. The model is the
/// whole one.
std::vector<DemoCut> demo_cuts(const DemoSetup& setup, const std::filesystem::path& checkpoint,
                               Module& model, const std::vector<HeadId>& chosen,
                               const std::vector<HeadScore>& costs);

/// Carries one out with a new run of the setup: loads the model, cuts, measures, trains on,
/// measures again.
CutResult run_cut(TrainingRun& run, const DemoCut& cut);

/// Runs one cut; none if it was stopped.
using CutRunner = std::function<std::optional<CutResult>(const DemoCut&)>;
/// Runs a cut in a child process of this program, with one thread. Throws Error if it fails.
std::optional<CutResult> run_cut_in_child(const DemoCut& cut);

/// Runs all cuts, `at_once` at a time, each by `run`, and calls `finished` with their number, one
/// call at a time. The record's recovery is that of the last. None if one was stopped. Rethrows the
/// first exception of `run`.
std::optional<ArmsRecord> run_cuts(const std::vector<DemoCut>& cuts, const CutRunner& run,
                                   int at_once, const std::function<void(Index)>& finished);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
