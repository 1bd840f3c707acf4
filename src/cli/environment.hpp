// A description of this machine, for doctor and for the footer of every report.
#pragma once

#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// {"headroom", "precision", "processor", "cores", "threads", "memory", "blas", "compiler",
/// "built with"}
Record environment();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
