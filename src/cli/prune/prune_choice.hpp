// Choices of heads for `headroom prune`: a number, the largest that a loss allows, a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measured_model.hpp"
#include "cli/timing/head_times.hpp"
#include "headroom/base/names.hpp"
#include "headroom/train/learner.hpp"
#include "headroom_measure/pruning/model_cut.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The options of the command; `budget` and `compensate` are names.
struct PruneCommandOptions {
  MeasuredOptions model;
  std::string out, keep, increase, budget_ms;
  std::string budget = name_of(BudgetOver::global), compensate = name_of(Compensation::none);
  CutOptions cut;
  std::optional<std::uint64_t> seed;  // none: that of the run
  bool force = false;
};

/// A chosen set of heads, and the reason for its size in words.
struct Choice {
  std::vector<HeadId> removed;
  std::string why;
  std::string by = {};                            // in words, what heads are ranked by
  std::optional<std::vector<HeadId>> other = {};  // the choice by importance alone
  std::optional<HeadTimes> times = {};
};

/// Reads a limit in nats per example, from nats ("0.05") or from a share of the loss ("5%").
double loss_limit_from(const std::string& text, double loss);

/// Chooses by whichever of the options is given. Throws UsageError if it asks for too much.
Choice choice_of(Learner& learner, ModelCut& cut, const PruneCommandOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
