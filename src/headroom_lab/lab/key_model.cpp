// The model for tasks with known keys.
#include "lab/key_model.hpp"

#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

KeyModel::KeyModel(Index inputs, Index outputs, Layout layout, const AttentionConfig& config,
                   Rng& rng)
    : in_(inputs, config.width, rng),
      attention_(make_attention(layout, config, rng)),
      out_(config.width, outputs, rng) {}

Tensor KeyModel::operator()(const Tensor& x, HeadProbe* probe) const {
  const Tensor tokens = in_(x);
  return out_(attend(*attention_, tokens, tokens, AttentionMask::none(), probe, nullptr));
}

void KeyModel::members(Members& visit) {
  visit("in", in_);
  visit("attention", *attention_);
  visit("out", out_);
}

ProbedBatch KeyExamples::batch() {
  ProbedBatch batch;
  batch.examples = examples_.x.dim(0);
  batch.logits = [this](HeadProbe& probe) { return (*model_)(examples_.x, &probe); };
  batch.losses = [this](HeadProbe& probe) {
    return mean(squared_error((*model_)(examples_.x, &probe), examples_.target, Reduction::none),
                {1, 2});
  };
  return batch;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
