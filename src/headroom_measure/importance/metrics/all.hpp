// The metrics of importance. Each is defined in a file of its name. Private.
#pragma once

#include "headroom_measure/importance/head_metric.hpp"

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
MetricEntry metric_first_token();
// From the outputs of heads.
MetricEntry metric_output_norm();
MetricEntry metric_output_variance();
MetricEntry metric_redundancy();
// From the gates' gradients.
MetricEntry metric_sensitivity();
MetricEntry metric_sensitivity_per_token();
MetricEntry metric_sensitivity_per_batch();
MetricEntry metric_taylor();
MetricEntry metric_fisher();
MetricEntry metric_entropy_and_sensitivity();
MetricEntry metric_logit_jacobian();
// From the parameters' gradients.
MetricEntry metric_value_path();
MetricEntry metric_routing_path();
MetricEntry metric_parameter_taylor();
MetricEntry metric_gradient_norms();
// From what training recorded.
MetricEntry metric_running_sensitivity();
MetricEntry metric_movement();
MetricEntry metric_hard_concrete();
MetricEntry metric_subset();
MetricEntry metric_frozen_gates();
// From the loss without heads.
MetricEntry metric_leave_one_out();
MetricEntry metric_all_but_one();
MetricEntry metric_divergence();
MetricEntry metric_greedy();
MetricEntry metric_regression();
MetricEntry metric_shapley_sampled();
MetricEntry metric_shapley();
MetricEntry metric_banzhaf();
// From the gates' gradients at other gates than 1.
MetricEntry metric_path();
MetricEntry metric_random_masks();
MetricEntry metric_taylor2();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
