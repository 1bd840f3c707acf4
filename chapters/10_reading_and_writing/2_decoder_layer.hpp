// Exercise 10/2: write DecoderLayer::operator(), a layer that also listens to another sequence.
//
//   Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& memory,
//                                   const AttentionMask& mask, const AttentionMask& memory_mask,
//                                   HeadProbe* probe, DecoderLayerCache* cache) const
//   x [B, Tt, C], memory [B, Ts, C] -> [B, Tt, C]
//
// Three halves, with f = self-attention, then cross-attention, then feed-forward, each in the form
//   norm_first          h = x + dropout(f(norm(x)))       pre-norm
//   otherwise           h = norm(x + dropout(f(x)))       post-norm
// In cross-attention the queries are the decoder's tokens; keys and values come from `memory`, the
// encoder's output, to which no norm is applied here. Members:
//   norm1, dropout1, ... norm3, dropout3              of the three halves, in this order
//   attend(*self_attn_, x, x, mask, probe, own)       `mask` is about the decoder's own tokens
//   attend(*multihead_attn_, query, memory, memory_mask, probe, cross)   this one about the source
//   feed_forward(x)
// `own` and `cross`, the two caches, are in the skeleton. They may be nullptr, as `probe` may.
#pragma once

#include "common/answer.hpp"
#include "headroom/nn/transformer.hpp"
