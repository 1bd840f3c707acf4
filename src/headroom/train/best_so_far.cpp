// BestSoFar.
#include "headroom/train/best_so_far.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

bool BestSoFar::improves(double value, Index step) {
  // Nothing would ever be better than a NaN, and neither it nor an infinity can be saved.
  if (!std::isfinite(value)) return false;
  const bool better = better_ == Better::lower ? value < value_ : value > value_;
  if (step_ != 0 && !better) return false;
  value_ = value;
  step_ = step;
  return true;
}

void BestSoFar::save_state(StateWriter to) const {
  to.record("value", value_);
  to.integer("step", step_);
}

void BestSoFar::load_state(const StateReader& from) {
  const Record value = from.record("value");
  if (!value.is_number()) {
    throw FileError(fmt::format("{}: is not a number", from.where("value")));
  }
  const std::int64_t step = from.integer("step");
  if (step < 0) throw FileError(fmt::format("{}: {} is negative", from.where("step"), step));
  value_ = value.get<double>();
  step_ = step;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
