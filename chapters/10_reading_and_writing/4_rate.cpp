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
    //! mistake zero_at_first: the first learning rate is 0, so the first step learns nothing, and
    //!   the peak is never reached in the warm-up. Step s gets (s + 1) / warmup of the peak
    // return peak * double(step) / double(warmup);
    //! mistake integers: an integer was divided by a larger one, which gives 0
    // return peak * double((step + 1) / warmup);
    //! mistake from_the_floor: the warm-up begins at the floor: it rises from 0, in equal parts of
    //!   the peak
    // return floor + (peak - floor) * double(step + 1) / double(warmup);
    //! mistake one_too_many: the warm-up takes one step too many: its last step, warmup - 1, has
    //!   the peak
    // return peak * double(step + 1) / double(warmup + 1);
    //! mistake no_warmup: there is no warm-up: these steps have the peak already
    // return peak;
    //! end
  }
  //! solution
  const double x =
      std::min(1.0, double(step - warmup) / double(std::max<Index>(1, steps - warmup)));
  //! skeleton
  // const double x = chapter::todo("how far the step is on its way from the warm-up to the end");
  //! mistake jumps: x counts from step 0, not from the end of the warm-up: the curve jumps down
  //!   there
  // const double x = std::min(1.0, double(step) / double(std::max<Index>(1, steps)));
  //! mistake never_arrives: x was divided by all steps, so it does not get to 1 in step `steps`
  // const double x = std::min(1.0, double(step - warmup) / double(std::max<Index>(1, steps)));
  //! mistake cosine_beyond_the_end: after the last step, x grows on, and a cosine rises again
  // const double grows = double(step - warmup) / double(std::max<Index>(1, steps - warmup));
  // const double x = shape == RateShape::cosine ? grows : std::min(1.0, grows);
  //! mistake linear_beyond_the_end: after the last step, x grows on, and the learning rate becomes
  //!   negative
  // const double grows = double(step - warmup) / double(std::max<Index>(1, steps - warmup));
  // const double x = shape == RateShape::linear ? grows : std::min(1.0, grows);
  //! end
  switch (shape) {
    case RateShape::constant: return peak;
    case RateShape::cosine:
      //! solution
      return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * x)) / 2;
      //! skeleton
      // return chapter::todo("cosine", x);
      //! mistake floor_added: the floor was added to the whole curve, which now begins above the
      //!   peak
      //- return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * x)) / 2;
      //+ return floor + peak * (1 + std::cos(std::numbers::pi * x)) / 2;
      // ...
      //- return floor + (peak - floor) * (1 - x);
      //+ return floor + peak * (1 - x);
      //! mistake no_floor: the floor was left out
      //- return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * x)) / 2;
      //+ return peak * (1 + std::cos(std::numbers::pi * x)) / 2;
      // ...
      //- return floor + (peak - floor) * (1 - x);
      //+ return peak * (1 - x);
      //! mistake whole_wave: the curve is a whole wave, down and up again; half of it is needed
      // return floor + (peak - floor) * (1 + std::cos(2 * std::numbers::pi * x)) / 2;
      //! end
    case RateShape::linear:
      //! solution
      return floor + (peak - floor) * (1 - x);
      //! skeleton
      // return chapter::todo("linear", x);
      //! mistake rises: the rate rises from the floor to the peak
      // return floor + (peak - floor) * x;
      //! end
    case RateShape::inverse_root:
      //! solution
      return peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(step + 1));
      //! skeleton
      // return chapter::todo("inverse_root: the formula of the paper");
      //! mistake falls_down: it does not begin at the peak: the root of the warm-up is missing
      // return peak / std::sqrt(double(step + 1));
      //! mistake never_starts: without a warm-up the learning rate is 0, for ever: w is then 1
      // return peak * std::sqrt(double(warmup) / double(step + 1));
      //! mistake counts_from_zero: the step was counted from 0: the formula has step + 1
      // return peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(std::max<Index>(1,
      // step)));
      //! end
  }
  return peak;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
