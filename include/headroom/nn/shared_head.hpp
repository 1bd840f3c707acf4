// SharedHead: one small Linear that every head reuses, a common mistake that can be studied here.
#pragma once

#include "headroom/nn/attention.hpp"
#include "headroom/nn/linear.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Splits the input into H slices of D channels. Every head applies the same D x D projections to
/// its slice: a fused matrix constrained to I_H (x) W, with H^2 times fewer parameters, whose
/// gradient is the sum of the diagonal blocks. Requires H * D = C for query, key and value.
/// Parameters: queries, keys, values (no bias), fc_out.
class SharedHead : public Attention {
 public:
  SharedHead(const AttentionConfig& config, Rng& rng);
  void members(Members& visit) override;
  Layout layout() const override { return Layout::shared; }
  std::vector<HeadSlice> head_slices() const override;

  Linear queries, keys, values;  // D -> D
  Linear fc_out;                 // live * D -> C

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override;
  Tensor combine(const Tensor& heads, const Tensor& query) const override;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
