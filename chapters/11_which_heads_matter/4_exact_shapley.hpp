// Exercise 11/4: write exact_shapley, which divides the change of the loss among the heads.
//
//   std::vector<double> exact_shapley(std::span<const double> values, Index players)
//
// values[S] is the loss when the heads in S are present. S is a number whose bits are the heads:
// values[0] is the loss without any, values[5] with heads 0 and 2 only (5 is 101 in binary). There
// are 2^players values.
// If heads come one after the other, head h lowers the loss by values[S] - values[S + h], where S
// are those that came before it. Return for each head the mean of that over all n! orders of the n
// heads. Exactly the heads of S come before h in |S|! (n - 1 - |S|)! of the orders. You have:
//   std::size_t{1} << h           the set of head h alone
//   (S >> h) & 1                  1 if head h is in S
//   S | (std::size_t{1} << h)     S with head h
//   size_of(S)                    the number of heads in S (in the file)
#pragma once

#include <bit>
#include <span>
#include <string>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom_measure/importance/shapley.hpp"
