// The declarations that answers about the importance and the removal of heads need. The runner
// precompiles this header, too, for the exercises whose checks call these libraries.
#pragma once

#include "common/answer.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
