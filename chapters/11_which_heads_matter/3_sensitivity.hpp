// Exercise 11/3: write the metric sensitivity, the mean over examples of |dL(x)/dg_h|.
//
//   MetricEntry metric_sensitivity()
//
// It is in the file. Write needs(), see() and scores() of its class. The library calls needs()
// first, then see() for each batch, and scores() at the end. You have:
//   MetricNeeds {.gate_gradients = true}    the result of needs() for a see() that reads the
//                                           gate gradients; without it they are empty
//   batch.examples                number of examples in this batch; the last may be smaller
//   batch.heads                   the live heads; their number is std::ssize(batch.heads)
//   batch.gate_gradients          an Array [examples, heads] of dL(x)/dg_h, at gates of 1: element
//                                 [b, h] is batch.gate_gradients[b * heads + h]
//   sums_, examples_              a std::vector<double>, empty at first, and an Index, 0 at first
#pragma once

#include "common/answer.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_sensitivity();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
