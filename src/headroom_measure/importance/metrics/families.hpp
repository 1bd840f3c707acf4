// The families of metrics, each defined in a file of its name. Private.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<MetricEntry> control_metrics();    // controls and properties of the weights
std::vector<MetricEntry> attention_metrics();  // from attention weights
std::vector<MetricEntry> output_metrics();     // from the outputs of heads
std::vector<MetricEntry> gradient_metrics();   // from gradients of gates and parameters
std::vector<MetricEntry> recorded_metrics();   // from what training recorded
std::vector<MetricEntry> game_metrics();       // from the loss at other gates than 1
std::vector<MetricEntry> gating_metrics();     // from gates that are fitted to the loss
MetricEntry metric_self_repair();              // one of game_metrics(), in output_metrics.cpp

// Entries that learners of the course write themselves; theirs take these places.
MetricEntry metric_leave_one_out();
MetricEntry metric_sensitivity();

/// The entry of a metric of this class, which is made of these arguments.
template <class Metric, class... Arguments>
MetricEntry metric_of(MetricInfo info, Arguments... arguments) {
  return {std::move(info), [=] { return std::make_unique<Metric>(arguments...); }};
}

/// Why a metric that reads the heads' blocks of this role is absent: the first head that shares its
/// block with others. Empty if all have one of their own.
std::string missing_block(const MetricSubject& subject, HeadRole role);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
