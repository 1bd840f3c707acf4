// Exercise 12/5, find the mistakes: 5_sparse.cpp is complete. It prunes single weights of a
// matrix: the smallest ones become 0, and training goes on. Afterwards sparsity() still reports 50
// %, and most of the zeros are gone. There are two mistakes. Make the checks pass.
//
//   void prune(SparseWeight& weight, double share)
//   void step(SparseWeight& weight, Real rate)
//   double sparsity(const SparseWeight& weight)
//
// A single weight cannot be cut out of a matrix, as a head can, so a mask of 0 and 1 says which
// weights are kept. These promises have to hold:
//
//   * prune() sets the smallest weights to 0, so that `share` of all of them are pruned.
//   * step() is SGD with momentum 0.9 for the weights that are kept: v = 0.9 v + g, p -= rate v.
//     A pruned weight stays exactly 0.
//   * Pruning changes neither the kept weights nor their momentum v.
//   * sparsity() is the share of the weights that are 0, whoever set them, between 0 and 1.
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A parameter of which some elements are pruned. The three arrays have one shape.
struct SparseWeight {
  Tensor weight;   // the parameter, whose gradient step() uses
  Array mask;      // 1: kept, 0: pruned
  Array momentum;  // v
};

void prune(SparseWeight& weight, double share);
void step(SparseWeight& weight, Real rate);
double sparsity(const SparseWeight& weight);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
