// A learner of fixed examples, for measurements of a model's heads without a training run. Private.
#pragma once

#include <functional>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// All sets are the same batch of examples, however many are asked for.
class FixedExamples : public Learner {
 public:
  /// The model must outlive it.
  explicit FixedExamples(Module& model) : model_(&model) {}

  Module& model() override { return *model_; }
  void visit(ExampleSet, Index, const std::function<void(const ProbedBatch&)>& see) override {
    see(batch());
  }
  /// The mean loss of the examples.
  Tensor loss(HeadProbe* probe = nullptr) override {
    HeadProbe none;
    return mean(batch().losses(probe == nullptr ? none : *probe));
  }
  Index next_batch() override { throw UsageError("FixedExamples has no training batches"); }
  Stateful& position() override { throw UsageError("FixedExamples has no position in its data"); }
  Record evaluate() override { return Record::object(); }
  Record test() override { return Record::object(); }
  const char* measure() const override { return "loss"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::lower; }
  Record about() const override { return Record::object(); }

 private:
  virtual ProbedBatch batch() = 0;

  Module* model_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
