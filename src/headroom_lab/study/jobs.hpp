// The jobs of a study: trunks, measurements of trunks, cells. Private.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/study/plan.hpp"
#include "study/commands.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct StudyJob {
  enum class Kind { trunk, scores, cell };
  Kind kind;
  std::string name;                // "trunk-...", "scores-...", "cell-..."
  std::size_t index;               // in the plan's trunks or cells
  std::vector<std::size_t> needs;  // jobs that must be done before
  Index steps = 0;
};

/// The jobs of a plan; each needs earlier ones only.
std::vector<StudyJob> jobs_of(const StudyDeclaration& declaration, const StudyPlan& plan);

/// The file that a job writes when it is done.
std::filesystem::path result_of(const StudyJob& job, const StudyPlan& plan,
                                const StudyFolder& folder);

/// "seed 2, prune 12: random 3"
std::string title_of(const StudyJob& job, const StudyPlan& plan);

Words command_of(const StudyJob& job, const StudyDeclaration& declaration, const StudyPlan& plan,
                 const StudyFolder& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
