// A base of learners that are measured and never trained.
#pragma once

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// A Learner without the functions of training, evaluation and checkpoints: a class on top of it
/// has model() and visit(), which are all that importance needs.
class MeasuredLearner : public Learner {
 public:
  Index next_batch() override { return 0; }
  Tensor loss(HeadProbe*) override { return {}; }
  Record evaluate() override { return {}; }
  Record test() override { return {}; }
  const char* measure() const override { return ""; }
  BestSoFar::Better better() const override { return BestSoFar::Better::lower; }
  Stateful& position() override { throw UsageError("no position"); }
  Record about() const override { return {}; }
};

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
