// A learner of three fixed examples, whose metrics can be computed one example at a time.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/train/objectives.hpp"
#include "support/measured_learner.hpp"
#include "support/nn_support.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// A learner of fixed examples: an encoder-decoder whose sources and targets have different
/// lengths.
class FixedLearner : public MeasuredLearner {
 public:
  using Lengths = std::array<Index, 3>;
  explicit FixedLearner(Layout layout = Layout::fused, Lengths lengths = {3, 6, 4},
                        Index layers = 2)
      : rng_(5), model_(config(layout, layers), rng_) {
    for (const auto& [name, tensor] : parameters(model_)) {
      if (tensor.rank() == 1) add_noise(tensor);  // biases are 0 at first, and would hide errors
    }
    for (const Index length : lengths) {
      const auto last = std::int32_t(4 + length);
      const Index labels = examples_.size() == 1 ? 2 : 3;
      Seq2SeqBatch one;
      one.source = Ids({1, length}, 0);
      for (Index i = 0; i < length; ++i) one.source[i] = std::int32_t(4 + (i * i + length) % 5);
      one.source_lengths = Ids({1}, std::int32_t(length));
      one.target_in = labels == 2 ? Ids({1, 2}, {1, last}) : Ids({1, 3}, {1, 5, last});
      one.target_lengths = Ids({1}, std::int32_t(labels));
      one.labels = labels == 2 ? Ids({1, 2}, {last, 2}) : Ids({1, 3}, {5, last, 2});
      examples_.push_back(one);
    }
  }
  static ModelConfig config(Layout layout, Index layers = 2) {
    ModelConfig config = small_config(ModelKind::seq2seq, layout);
    config.layers = layers;
    config.block.activation = Activation::gelu;  // smooth, for finite differences
    config.source_vocabulary = config.target_vocabulary = 11;
    return config;
  }

  Seq2Seq& model() override { return model_; }
  const std::vector<Seq2SeqBatch>& examples() const { return examples_; }
  /// The examples 0 and 1 in one batch, padded; then example 2.
  void visit(ExampleSet, Index, const std::function<void(const ProbedBatch&)>& see) override {
    Seq2SeqBatch pair;
    pair.source = rows(&Seq2SeqBatch::source, 0);
    pair.source_lengths =
        Ids({2}, {examples_[0].source_lengths[0], examples_[1].source_lengths[0]});
    pair.target_in = rows(&Seq2SeqBatch::target_in, 0);
    pair.target_lengths = Ids({2}, {3, 2});
    pair.labels = rows(&Seq2SeqBatch::labels, ignored_label);
    for (const Seq2SeqBatch& batch : {pair, examples_[2]}) {
      see(probed(batch.labels, [&](HeadProbe& probe) {
        return logits_of(model_, batch, ask_ ? &probe : nullptr);
      }));
    }
  }
  void forget_the_probe() { ask_ = false; }

 private:
  /// Examples 0 and 1, padded.
  Ids rows(Ids Seq2SeqBatch::*member, std::int32_t filler) const {
    const Ids &first = examples_[0].*member, &second = examples_[1].*member;
    const Index longest = std::max(first.size(), second.size());
    Ids both({2, longest}, filler);
    std::copy_n(first.data(), first.size(), both.data());
    std::copy_n(second.data(), second.size(), both.data() + longest);
    return both;
  }
  void add_noise(Tensor tensor) {
    Array& values = tensor.edit_value();
    for (Index i = 0; i < values.size(); ++i) values[i] += rng_.uniform(Real(-0.3), Real(0.3));
  }

  Rng rng_;
  Seq2Seq model_;
  std::vector<Seq2SeqBatch> examples_;
  bool ask_ = true;
};

/// The loss of one example with one gate set.
inline double loss_of(const Seq2Seq& model, const Seq2SeqBatch& example, const HeadId& head,
                      double gate) {
  const NoGrad quiet;
  HeadProbe probe;
  Array gates = ones({model.config.block.heads});
  gates[head.head] = Real(gate);
  probe.gates[{head.kind, head.layer}] = constant(gates);
  return double(cross_entropy(logits_of(model, example, &probe), example.labels,
                              {.reduction = Reduction::sum})
                    .item());
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
