// The metrics of importance. Each is defined in a file of its name. Private.
#pragma once

#include "headroom/heads/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// Controls and properties of the weights.
MetricEntry metric_random();
MetricEntry metric_depth();
MetricEntry metric_magnitude();
// From attention weights.
MetricEntry metric_attention_l1();
MetricEntry metric_attention_l2();
MetricEntry metric_position_variance();
MetricEntry metric_entropy();
MetricEntry metric_confidence();
// From the gates' gradients.
MetricEntry metric_sensitivity();
MetricEntry metric_taylor();
MetricEntry metric_fisher();
// From the loss without heads.
MetricEntry metric_leave_one_out();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
