// Exercise 13/2: write the chooser greedy: backward elimination.
//
//   Chooser greedy()
//
// It is in the file; what is missing is `eliminate`, which it returns. Of all players that the
// budget still allows to be removed, remove the one without which the loss is lowest. Then measure
// again, without it, until nothing is left to remove. The result has the heads in that order.
// You have, beside the game of 11/2:
//   game.size(), game.all(), set.without(i)    the players are numbered from 0
//   game.players()[i]                          the HeadId of player i
//   set.contains(i)                            whether player i is in the set
//   game.values(sets)                          v(S) of each set of a std::vector<HeadSet>, the
//                                              mean loss when only the heads in S are there
//   allowance.left()                           how many heads can still be removed
//   allowance.allows(head)                     whether the budget lets this one go next
//   allowance.take(head)                       counts it as removed
#pragma once

#include "common/answer.hpp"
#include "headroom/heads/choosers.hpp"
