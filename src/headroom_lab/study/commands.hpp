// The command lines of a study's runs. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom_lab/study/plan.hpp"
#include "study/folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using Words = std::vector<std::string>;

/// Returns the command that trains a trunk, or continues it.
Words trunk_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                    const StudyFolder& folder);
/// Returns the command that scores the heads of a trunk that is done, from its checkpoint.
Words scores_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                     const std::string& checkpoint);
/// Returns whether the name of a measure contains "test." or "cut.", the `part`.
bool measures(const StudyDeclaration& declaration, const char* part);
/// Returns the command that trains a cell, or continues it. The runs on which it depends must be
/// done, because the heads of controls are read from them.
Words cell_command(const StudyCell& cell, const StudyDeclaration& declaration,
                   const StudyFolder& folder);
/// Returns the words of a command line: "--layers 2 --post-norm".
Words words_of(const GivenSettings& options);
/// "--seed 1", and "--fold 2/5" if the study has folds. `fold` is counted from 0.
Words data_words(Index seed, Index fold, const StudyDeclaration& declaration);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
