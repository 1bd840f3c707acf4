// Times of the models of a study.
#pragma once

#include <functional>

#include "headroom_lab/study/latency.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Times a forward pass of every size of model among the finished runs, with one thread: medians of
/// passes that take turns, over timed_examples of the selection set. `progress` is called for each
/// architecture with its number of sizes. The weights are those of a trunk, whose heads are removed
/// for the time of the measurement.
StudyLatency measure_latency(const StudyPlan& plan, const std::filesystem::path& folder,
                             const std::function<void(Index sizes)>& progress);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
