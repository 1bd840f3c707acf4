// A small model for tasks with known keys, and measurements on it. Private.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "headroom/nn/attention.hpp"
#include "headroom/nn/linear.hpp"
#include "lab/fixed_examples.hpp"
#include "lab/key_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A linear layer from the tokens to the attention's width, the attention, a linear layer to the
/// outputs.
class KeyModel : public Module {
 public:
  KeyModel(Index inputs, Index outputs, Layout layout, const AttentionConfig& config, Rng& rng);
  Tensor operator()(const Tensor& x, HeadProbe* probe = nullptr) const;
  void members(Members& visit) override;
  std::string title() const override { return "KeyModel"; }

 private:
  Linear in_;
  std::unique_ptr<Attention> attention_;
  Linear out_;
};

/// A KeyModel with fixed examples. The loss of an example is the mean squared error of its outputs.
class KeyExamples : public FixedExamples {
 public:
  KeyExamples(KeyModel& model, KeyBatch examples)
      : FixedExamples(model), model_(&model), examples_(std::move(examples)) {}

 private:
  ProbedBatch batch() override;

  KeyModel* model_;
  KeyBatch examples_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
