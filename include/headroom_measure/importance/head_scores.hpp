// Scores of heads, and those that a training run recorded.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/base/listed.hpp"
#include "headroom/io/stateful.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A head with its score.
struct HeadScore {
  HeadId head;
  double score = 0;

  using T = HeadScore;
  using Fields = Listed<fields_of<&T::head>, &T::score>;
};

/// Sum of two scores of the same heads (for heads that two models remove together). Throws
/// UsageError when the heads differ.
std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b);

/// Heads by rising score; equal scores in the order of HeadId.
std::vector<HeadId> least_important_first(std::vector<HeadScore> scores);

/// Scores that come from training itself, by the name of their metric.
using RecordedScores = std::map<std::string, std::vector<HeadScore>>;

/// Saves scores in a checkpoint. A part of a run that has scores calls it in its save_state(), with
/// its own `to`; recorded_scores() then finds them, whatever the part's name.
void save_scores(StateWriter to, const RecordedScores& scores);

/// The scores of all parts of a checkpoint. Throws FileError.
RecordedScores recorded_scores(const std::filesystem::path& checkpoint);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
