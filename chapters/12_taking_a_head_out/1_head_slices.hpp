// Exercise 12/1: write FusedHeads::head_slices, which says what belongs to whom.
//
//   std::vector<HeadSlice> FusedHeads::head_slices() const
//
// HeadSlice {role, head, name, axis, begin, end}: the indices [begin, end) along `axis` of the
// parameter `name` belong to `head`, an original number. You have:
//
//   live(), head_dim(), alive()   the number of heads that are left, D, and their original numbers
//   in_proj_weight [3 * rows, C]  thirds: queries, keys, values, with rows = live() * D. Live head
//   in_proj_bias   [3 * rows]     number i owns the rows [i D, (i + 1) D) of each third
//   out_proj.weight [C, rows]     axis 1: live head number i owns the columns [i D, (i + 1) D)
//   out_proj.bias  [C]            belongs to no head: role output_bias, head HeadSlice::of_none
//   config().width                C
//   config().bias                 false: neither bias exists, and neither has a slice
//
// Roles: query, key, value, query_bias, key_bias, value_bias, output, output_bias. The order is
// head after head, as in alive(). All keys and values have the width of the queries here.
#pragma once

#include "common/answer.hpp"
