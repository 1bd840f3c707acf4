// Exercise 09/3: write sinusoids, the table of positions.
//
//   Array sinusoids(Index longest, Index width)     [longest, width]
//
// Row t is the vector that is added to the token at position t, t = 0, 1, ... Its channels come in
// pairs, and each pair has an angle:
//   angle(t, i)      = t / 10000^(2i / C)           C is the width
//   table[t][2i]     = sin(angle(t, i))
//   table[t][2i + 1] = cos(angle(t, i))
// With an odd width, the last pair has only its sine. You have:
//   std::pow(a, b), std::sin(a), std::cos(a), all of doubles
//   double(c)        so that a division is not one of integers: 3 / 4 is 0
// Only the constructor of the layer Positions calls it. The constructor is in the same file, and
// complete.
#pragma once

#include "common/answer.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/layers.hpp"
