// FusedHeads: one Linear for all heads, as in PyTorch, BERT and GPT-2.
#pragma once

#include "headroom/nn/attention.hpp"
#include "headroom/nn/linear.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Query, key and value of all heads are rows of one matrix: head h owns rows [hD, (h + 1)D) of
/// each third. Computes the same function as SeparateHeads with those rows. Parameters are called
/// in_proj_weight [3HD, C] and in_proj_bias, or q_proj_weight, k_proj_weight, v_proj_weight where
/// key and value have their own widths, and out_proj.weight, as in torch.nn.MultiheadAttention.
class FusedHeads : public Attention {
 public:
  FusedHeads(const AttentionConfig& config, Rng& rng);
  void members(Members& visit) override;
  Layout layout() const override { return Layout::fused; }
  std::vector<HeadSlice> head_slices() const override;

  Tensor in_proj_weight;  // [3HD, C]; undefined when the widths differ, then:
  Tensor q_proj_weight;   // [HD, C]
  Tensor k_proj_weight;   // [HD, Ck]
  Tensor v_proj_weight;   // [HD, Cv]
  Tensor in_proj_bias;    // [3HD]; undefined without bias
  Linear out_proj;        // HD -> C

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override;
  Tensor combine(const Tensor& heads, const Tensor& query) const override;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
