// Exercise 10/3: write greedy, which lets a model write: the most probable token in every step.
//
//   std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits)
//
// limits.begin is fed first; limits.end finishes a sequence. A writer has one row for each
// sequence:
//   Array next(ids)        feeds ids [rows, 1], one new token for each row; returns the scores
//                          (logits) of the token after it, [rows, V]. It keeps all earlier tokens
//   void reorder(rows)     keeps only these rows, a std::vector<Index>, in this order
//   Index batch()          the number of rows
// For n rows, Ids({n, 1}, id) has the same id in each of them, and
// Ids({n, 1}, std::span<const std::int32_t>(tokens)) those of a std::vector<std::int32_t>.
// Written is the result for one sequence, in the order in which the sequences came:
//   ids                    the tokens, without begin and end
//   log_probability        sum of log p of the tokens, including the end token, where
//                          log p(id) = scores[id] - log_sum_exp(scores)
//   finished               whether the end token was written
// Of tokens with equal scores, the lowest id is taken. The token limits.never, the unknown one, is
// not taken; -1 means that there is none, as in the checks. A sequence that is finished leaves the
// writer. The skeleton has the loop, which ends when no sequence is left or the limit is reached.
#pragma once

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/decoding.hpp"
