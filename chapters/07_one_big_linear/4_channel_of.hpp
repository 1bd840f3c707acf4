// Exercise 07/4: find a feature in a checkpoint that somebody else has written.
//
//   Index channel_of(HeadOrder order, Index head, Index d, Index heads, Index head_dim)
//
// A projection has heads * head_dim channels: rows of W_Q, W_K and W_V, columns of W_O. Return the
// one that holds feature d of a head, in both orders:
//
//   HeadOrder::blocked        one head after the other: all features of head 0, then all of head 1.
//                             The channels, as a matrix, are [heads, head_dim]
//   HeadOrder::interleaved    one feature after the other: feature 0 of every head, then feature 1
//                             of every head. The channels, as a matrix, are [head_dim, heads]
#pragma once

#include "common/answer.hpp"
#include "headroom/surgery/layout_conversion.hpp"
