//! title: RateSchedule::operator()
//! replaces: headroom::RateSchedule::operator
//! minutes: 10
//! difficulty: 1
//! hint: With a warm-up of 4 steps, write down the rates of the steps 0 to 5. Is any of them 0? Is
//!   one of them twice the peak?
//! hint: All sizes are integers, and 3 / 4 is 0: convert before you divide. x is 0 in the first
//!   step after the warm-up and 1 in step `steps`; it must not grow beyond 1.
//! hint: Warm-up: peak * double(step + 1) / double(warmup). Then
//!   x = std::min(1.0, double(step - warmup) / double(steps - warmup)). inverse_root:
//!   peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(step + 1)).
//! after: The learning rate is a function of the step alone. So a run that resumes needs no state
//!   for it.
// Exercise 10/4, RateSchedule::operator(): the learning rate of a step.
#include "4_rate.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double RateSchedule::operator()(Index step) const {
  if (function_) return function_(step);  // a schedule that is a function of its own
  const auto& [shape, peak, warmup, steps, floor] = options_;
  if (step < warmup) {
    //! solution
    return peak * double(step + 1) / double(warmup);
    //! skeleton
    // return chapter::todo("the warm-up");
    //! wrong zero_at_first: the first learning rate is 0
    // return peak * double(step) / double(warmup);
    //! wrong integers: an integer was divided by a larger one
    // return peak * double((step + 1) / warmup);
    //! wrong from_the_floor: the warm-up begins at the floor
    // return floor + (peak - floor) * double(step + 1) / double(warmup);
    //! wrong one_too_many: the warm-up takes one step too many
    // return peak * double(step + 1) / double(warmup + 1);
    //! wrong no_warmup: there is no warm-up
    // return peak;
    //! end
  }
  //! solution
  const double x =
      std::min(1.0, double(step - warmup) / double(std::max<Index>(1, steps - warmup)));
  //! skeleton
  // const double x = chapter::todo("how far the step is on its way from the warm-up to the end");
  //! wrong jumps: x counts from step 0
  // const double x = std::min(1.0, double(step) / double(std::max<Index>(1, steps)));
  //! wrong never_arrives: x was divided by all steps
  // const double x = std::min(1.0, double(step - warmup) / double(std::max<Index>(1, steps)));
  //! wrong beyond_the_end: after the last step, x grows on
  // const double x = double(step - warmup) / double(std::max<Index>(1, steps - warmup));
  //! end
  switch (shape) {
    case RateShape::constant: return peak;
    case RateShape::cosine:
      //! solution
      return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * x)) / 2;
      //! skeleton
      // return chapter::todo("cosine", x);
      //! wrong floor_added: the floor was added to the whole curve
      // return floor + peak * (1 + std::cos(std::numbers::pi * x)) / 2;
      //! wrong no_floor: the floor was left out
      // return peak * (1 + std::cos(std::numbers::pi * x)) / 2;
      //! wrong whole_wave: a whole wave
      // return floor + (peak - floor) * (1 + std::cos(2 * std::numbers::pi * x)) / 2;
      //! end
    case RateShape::linear:
      //! solution
      return floor + (peak - floor) * (1 - x);
      //! skeleton
      // return chapter::todo("linear", x);
      //! wrong rises: the rate rises
      // return floor + (peak - floor) * x;
      //! end
    case RateShape::inverse_root:
      //! solution
      return peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(step + 1));
      //! skeleton
      // return chapter::todo("inverse_root: the formula of the paper");
      //! wrong falls_down: it does not begin at the peak
      // return peak / std::sqrt(double(step + 1));
      //! wrong never_starts: without a warm-up the learning rate is 0
      // return peak * std::sqrt(double(warmup) / double(step + 1));
      //! wrong counts_from_zero: the step was counted from 0
      // return peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(std::max<Index>(1,
      // step)));
      //! end
  }
  return peak;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
