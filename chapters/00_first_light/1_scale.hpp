// Exercise 00/1: write the factor that every score is multiplied by.
//
//   Real attention_scale(Index head_dim)
//
// A score is the dot product of a query and a key: a sum of head_dim products. If the elements are
// independent, with mean 0 and standard deviation 1, the scores have the standard deviation
// sqrt(head_dim). Return the factor that makes it 1. You have:
//
//   head_dim                     D, the number of features of a head; at least 1
//   Real                         the type of every number here: double, or float
//   std::sqrt(Real(head_dim))    the root of an integer, as a Real
#pragma once

#include "common/answer.hpp"
