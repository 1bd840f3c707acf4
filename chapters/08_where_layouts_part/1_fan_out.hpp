// Exercise 08/1: write the rule by which both layouts draw their first weights.
//
//   Index Attention::projection_fan_out() const
//
// Xavier initialisation draws weights with the variance 2 / (fan_in + fan_out). fan_in is C. The
// function returns fan_out: the number of rows of the matrix that the rule is applied to. There
// are H heads of D rows each; H D is often C, but need not be. The rule is about the layer as it
// was made. You have:
//
//   config().init        FanPolicy::packed       one matrix with the rows of query, key and value
//                        FanPolicy::per_matrix   one matrix with the rows of all heads
//                        FanPolicy::per_head     one matrix with the rows of one head
//   config().heads       H of the layer as it was made
//   config().head_dim    D
//   config().width       C
//   live()               the number of heads that are left after pruning
#pragma once

#include "common/answer.hpp"
