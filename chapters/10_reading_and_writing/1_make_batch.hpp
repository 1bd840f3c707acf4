// Exercise 10/1: write make_batch, which turns examples into the arrays of a training step.
//
//   Seq2SeqBatch make_batch(std::span<const Seq2SeqExample> set, std::vector<Index> examples,
//                           const Vocabulary& source, const Vocabulary& target)
//
// Row b of every array belongs to the example set[examples[b]], which has the token ids `source`
// and `target` (both Tokens, a std::vector<std::int32_t>), without special tokens. To be filled:
//   source         [B, Ts]  padded with source.pad()      source_lengths [B]  without padding
//   target_in      [B, Tt]  <bos>, then the target; padded with target.pad()
//   labels         [B, Tt]  the target, then <eos>; padded with ignored_label
//   target_lengths [B]      tokens of a row of labels, without padding
//   source_tokens, target_tokens: the sums of source_lengths and of target_lengths
// You have:
//   target.bos(), target.eos()      the ids of <bos> and <eos>
//   Padded pad(rows, filler)        pads a std::vector<Tokens> to one array; has .ids [B, T] and
//                                   .lengths [B], the numbers of tokens before padding
//   sum(ids)                        the sum of an Ids array
#pragma once

#include "common/answer.hpp"
#include "headroom/data/batches.hpp"
