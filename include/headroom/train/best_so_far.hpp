// BestSoFar: the best value of a measure and its step.
#pragma once

#include "headroom/base/real.hpp"
#include "headroom/io/stateful.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Remembers the best value of a measure, so that a resumed run replaces `best.safetensors` only by
/// a better model.
class BestSoFar : public Stateful {
 public:
  /// Which of two values is the better one.
  enum class Better { lower, higher };
  explicit BestSoFar(Better better) : better_(better) {}
  /// True when `value` is finite and better than all before; then it is remembered.
  bool improves(double value, Index step);
  double value() const { return value_; }
  Index step() const { return step_; }  // 0: none yet
  void save_state(StateWriter to) const override;
  void load_state(const StateReader& from) override;

 private:
  Better better_;
  double value_ = 0;
  Index step_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
