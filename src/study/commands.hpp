// The command lines of a study's runs. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom/study/plan.hpp"
#include "study/folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using Words = std::vector<std::string>;

/// Trains a trunk, or continues it.
Words trunk_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                    const StudyFolder& folder);
/// Scores the heads of a trunk that is done, from its checkpoint.
Words scores_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                     const std::string& checkpoint);
/// Whether some measure has this part in its name: "test." or "cut.".
bool measures(const StudyDeclaration& declaration, const char* part);
/// Trains a cell, or continues it. The runs that it depends on must be done: heads of controls are
/// read from them.
Words cell_command(const StudyCell& cell, const StudyDeclaration& declaration,
                   const StudyFolder& folder);
/// "--layers 2 --post-norm"
Words words_of(const TrainWords& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
