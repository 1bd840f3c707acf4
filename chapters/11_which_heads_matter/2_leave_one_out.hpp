// Exercise 11/2: write the metric leave_one_out, the rise of the loss when one head is missing.
//
//   MetricEntry metric_leave_one_out()
//
// It is in the file. Write play() of its class. The library calls play() once with a game, and then
// scores(): one number for each head, in the order of game.players().
//   score of head h = v(all but h) - v(all)
// v(S) is the mean loss of the examples when the heads in S have gate 1 and all others gate 0.
// You have:
//   game.size()                   number of players: the live heads, numbered from 0
//   game.all()                    the set of all players, a HeadSet
//   set.without(i), set.with(i)   another set; `set` stays as it is
//   game.value(set)               v(set): one forward pass over all examples, without a tape. The
//                                 game stores v(set), so a second call needs no pass
//   scores_                       a std::vector<double>
#pragma once

#include "common/answer.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_leave_one_out();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
