// Linear: y = x W^T + b.
#pragma once

#include "headroom/base/rng.hpp"
#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A linear map of the last axis, [..., in] -> [..., out]. Initialised Xavier-uniform with bias 0.
class Linear : public Module {
 public:
  Linear(Index in, Index out, Rng& rng, bool bias = true);
  /// From given values; bias may be undefined.
  Linear(Array weight, Array bias);
  /// Throws ShapeError unless the last axis of x has size `in`.
  Tensor operator()(const Tensor& x) const;
  void members(Members& visit) override;
  std::string title() const override;

  Tensor weight;  // [out, in]
  Tensor bias;    // [out], undefined without bias
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
