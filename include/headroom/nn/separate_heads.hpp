// SeparateHeads: one Linear per head for query, key and value, as Vaswani et al. 2017 draw it.
#pragma once

#include "headroom/nn/attention.hpp"
#include "headroom/nn/linear.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Head h has its own W_Q^h, W_K^h, W_V^h of shape [D, C]; one output Linear reads the concatenated
/// heads. Vaswani et al. 2017, section 3.2.2 and figure 2. Parameters are called query.3.weight,
/// ..., out.weight, with the head's original index.
class SeparateHeads : public Attention {
 public:
  SeparateHeads(const AttentionConfig& config, Rng& rng);
  void members(Members& visit) override;
  Layout layout() const override { return Layout::separate; }
  std::vector<HeadSlice> head_slices() const override;

  std::vector<std::unique_ptr<Linear>> query, key, value;  // of the live heads, ascending
  Linear out;

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override;
  Tensor combine(const Tensor& heads, const Tensor& query) const override;
  void drop_modules(std::span<const Index> kept) override;
  void add_modules(std::span<const Index> fresh) override;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
