// Exercise 13/2: write the chooser greedy: backward elimination.
//
//   Chooser greedy()
//
// It is in the file. Write `eliminate`, which it returns: of all players that the budget still
// allows to be removed, remove the one without which the loss is lowest. Then measure again without
// it, until no more heads can be removed. The result has the heads in the order of their removal.
// You have, beside the game of 11/2:
//   game.size(), game.all(), set.without(i)    the players are numbered from 0
//   game.players()[i]                          the HeadId of player i
//   set.contains(i)                            whether player i is in the set
//   game.values(sets)                          v(S) of each set of a std::vector<HeadSet>, the
//                                              mean loss when only the heads in S are present
//   allowance.left()                           how many heads can still be removed
//   allowance.allows(head)                     whether the budget allows its removal now
//   allowance.take(head)                       counts it as removed
#pragma once

#include "common/answer.hpp"
#include "headroom_measure/importance/choosers.hpp"
