// Layouts in which heads share a block of parameters.
#pragma once

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Why a metric that reads the heads' blocks of this role is absent: the first head without one.
/// Empty if all have one.
std::string missing_block(const MetricSubject& subject, HeadRole role);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
