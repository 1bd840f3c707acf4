// Transplant: the same heads in another layout.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headroom/nn/attention.hpp"
#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/parameter_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A range of a parameter of one model and the corresponding range of the other's. Both have the
/// same axis and length.
struct MatchingBlock {
  BlockPart from, to;
  bool key_bias = false;  // has no effect on the function; compared separately
};

/// Matches the parameters of two models that differ only in the layout of their heads, block by
/// block: those of heads by role and original number, all others by name. Works both ways between
/// SeparateHeads and FusedHeads, and between equal layouts. Throws UsageError naming the attention
/// or parameter that has no counterpart, ShapeError for one of another shape.
std::vector<MatchingBlock> matching_blocks(Module& from, Module& to);

/// Makes `to` the same function as `from`, exactly: copies every parameter block by block.
void transplant(Module& from, Module& to);
/// Copies gradients in the same way. A missing gradient stays missing in the other model.
void transplant_gradients(Module& from, Module& to);

/// Copies moments and step counts in the same way, so that training goes on in the other layout as
/// it would have in this one. Throws UsageError when the optimizers keep different moments.
void transplant_moments(const Optimizer& from, Optimizer& to);

/// Copies blocks between any arrays that belong to parameters: gradients, moments. `source` and
/// `target` find the array of a parameter by its full name.
void copy_blocks(const std::vector<MatchingBlock>& blocks,
                 const std::function<const Array&(const std::string&)>& source,
                 const std::function<Array&(const std::string&)>& target);

/// Distance of two models: the maximum over all blocks (as above) of max |difference| / max
/// |value|, with key biases separate.
struct Distance {
  double largest = 0;   // of all blocks but the key biases
  double key_bias = 0;  // of the key biases
  std::string where;    // the worst block's name in the first model
};
Distance parameter_distance(Module& a, Module& b);
Distance gradient_distance(Module& a, Module& b);
/// max |a - b| / max |a, b| for two arrays of equal shape; 0 where both are zero. Throws
/// ShapeError.
double relative_difference(const Array& a, const Array& b);
/// max |a - b|. Throws ShapeError where the shapes differ.
double largest_difference(const Array& a, const Array& b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
