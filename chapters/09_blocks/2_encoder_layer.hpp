// Exercise 09/2: write EncoderLayer::operator(), a layer of a transformer.
//
//   Tensor EncoderLayer::operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe,
//                                   KeyValueCache* cache) const             [B, T, C] -> [B, T, C]
//
// Two halves, first with f = self-attention, then with f = feed-forward, in one of two forms:
//   norm_first          h = x + dropout(f(norm(x)))       pre-norm
//   otherwise           h = norm(x + dropout(f(x)))       post-norm
// The second half begins with the result of the first. You have, all of them members:
//   norm1, dropout1     Norm and Dropout of the first half: norm1(x), dropout1(x)
//   norm2, dropout2     those of the second half
//   attend(*self_attn_, query, memory, mask, probe, cache)
//                       attention. In self-attention query and memory are the same tensor: give it
//                       twice. It hands the maps that somebody asked for to `probe`, and keeps keys
//                       and values in `cache`; both may be nullptr
//   feed_forward(x)     linear, activation, dropout, linear, for every token on its own
// Outside of training, dropout1 and dropout2 return their argument.
#pragma once

#include "common/answer.hpp"
#include "headroom/nn/transformer.hpp"
