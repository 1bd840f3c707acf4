//! title: Adam::update_run
//! replaces: headroom::Adam::update_run
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 03/1
//! hint: At the first step m is (1 - beta1) g and v is (1 - beta2) g^2. What must both be divided
//!   by, so that the step is rate * g / |g|? What at the second step?
//! hint: Before the loop: the two corrections, from run.step. In the loop: first[i] and second[i]
//!   get their new values, which remain for the next step; then parameter[i] is moved by the new
//!   ones.
//! hint: first_correction = Real(1 - std::pow(beta1_, t)), in the same way second_correction;
//!   parameter[i] -= Real(rate) * (first[i] / first_correction) /
//!   (std::sqrt(second[i] / second_correction) + Real(epsilon_)).
//! after: A head that was removed and comes back starts at step 1 beside neighbours that do not
//!   (chapter 12). That is why the step count belongs to the run. The library's own is in
//!   src/headroom/kernels/adam.cpp: one pass over four arrays.
// Exercise 04/3, Adam: steps whose length does not depend on the length of the gradient.
#include "3_adam.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void Adam::update_run(const Run& run, Real* parameter, const Real* gradient, Real* first,
                      Real* second, double rate, double weight_decay) const {
  //! solution
  const double t = double(run.step);
  const Real first_correction = Real(1 - std::pow(beta1_, t));
  const Real second_correction = Real(1 - std::pow(beta2_, t));
  //! skeleton
  // const Real first_correction = chapter::todo("1 - beta1^t");
  // const Real second_correction = chapter::todo("1 - beta2^t");
  //! mistake no_correction: the means were not corrected: both begin at 0, and v needs longer to
  //!   grow than m, so the first step is 0.1 / sqrt(0.001) = 3.2 times too long
  // const Real first_correction = 1, second_correction = 1;
  //! mistake only_the_first: only the first mean was corrected: the second one also begins at 0
  //- const Real second_correction = Real(1 - std::pow(beta2_, t));
  //+ const Real second_correction = 1;
  //! mistake correction_of_step_1: both were corrected as if every step were the first: t is
  //!   run.step
  //- const double t = double(run.step);
  //+ const double t = 1;
  //! wrong step_from_0: run.step counts from 1
  //- const double t = double(run.step);
  //+ const double t = double(run.step - 1);
  //! mistake step_too_far: both were corrected with t + 1: run.step is this step already, counted
  //!   from 1
  //- const double t = double(run.step);
  //+ const double t = double(run.step + 1);
  //! mistake one_beta_everywhere: beta1 was used for both means: that of the squares has beta2
  //- const Real second_correction = Real(1 - std::pow(beta2_, t));
  //+ const Real second_correction = Real(1 - std::pow(beta1_, t));
  // ...
  //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
  //+ second[i] = Real(beta1_) * second[i] + Real(1 - beta1_) * g * g;
  //! mistake only_the_second: only the second mean was corrected: the first one also begins at 0
  //- const Real first_correction = Real(1 - std::pow(beta1_, t));
  //+ const Real first_correction = 1;
  //! mistake counts_calls: the steps were counted by the calls of this function. It is called for
  //!   each parameter, and run.step is the step of this one
  //- const double t = double(run.step);
  //+ static double t = 0;
  //+ ++t;
  //! end
  for (Index i = 0; i < run.size; ++i) {
    Real g = gradient[i];
    if (decoupled_) {
      parameter[i] -= Real(rate * weight_decay) * parameter[i];
    } else {
      g += Real(weight_decay) * parameter[i];
    }
    //! solution
    first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    parameter[i] -= Real(rate) * (first[i] / first_correction) /
                    (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //! skeleton
    // first[i] = chapter::todo("the mean of the gradients");
    // second[i] = chapter::todo("the mean of their squares");
    // parameter[i] = chapter::todo("the parameter after the step", first_correction,
    //                              second_correction);
    //! mistake betas_exchanged: beta1 and beta2 were exchanged
    //- first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //+ first[i] = Real(beta2_) * first[i] + Real(1 - beta2_) * g;
    //+ second[i] = Real(beta1_) * second[i] + Real(1 - beta1_) * g * g;
    //! mistake exchanged_everywhere: beta1 and beta2 were exchanged
    //- const Real first_correction = Real(1 - std::pow(beta1_, t));
    //- const Real second_correction = Real(1 - std::pow(beta2_, t));
    //+ const Real first_correction = Real(1 - std::pow(beta2_, t));
    //+ const Real second_correction = Real(1 - std::pow(beta1_, t));
    // ...
    //- first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //+ first[i] = Real(beta2_) * first[i] + Real(1 - beta2_) * g;
    //+ second[i] = Real(beta1_) * second[i] + Real(1 - beta1_) * g * g;
    //! mistake one_beta: beta1 was used for both means: that of the squares has beta2
    //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //+ second[i] = Real(beta1_) * second[i] + Real(1 - beta1_) * g * g;
    //! mistake other_beta: beta2 was used for both means: that of the gradients has beta1
    //- first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    //+ first[i] = Real(beta2_) * first[i] + Real(1 - beta2_) * g;
    //! mistake other_beta_everywhere: beta2 was used for both means: that of the gradients has
    //!   beta1
    //- const Real first_correction = Real(1 - std::pow(beta1_, t));
    //+ const Real first_correction = Real(1 - std::pow(beta2_, t));
    // ...
    //- first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    //+ first[i] = Real(beta2_) * first[i] + Real(1 - beta2_) * g;
    //! mistake correction_outside: v was corrected outside of the root: it is sqrt(v / (1 -
    //!   beta2^t))
    //- (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //+ (std::sqrt(second[i]) / second_correction + Real(epsilon_));
    //! mistake epsilon_inside: epsilon was added under the root, where it counts as its own root:
    //!   1e-8 as 1e-4
    //- (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //+ std::sqrt(second[i] / second_correction + Real(epsilon_));
    //! mistake epsilon_before: epsilon was added before the correction, so that it was corrected as
    //!   well and is 30 times too large at the first step
    //- (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //+ (std::sqrt(second[i]) + Real(epsilon_)) * std::sqrt(second_correction);
    //! mistake no_epsilon: epsilon is missing
    //- (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //+ std::sqrt(second[i] / second_correction);
    //! mistake no_root: the root is missing: m was divided by v, which has the unit of m^2
    //- (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    //+ (second[i] / second_correction + Real(epsilon_));
    //! mistake square_of_the_mean: second holds the mean of m^2, where it should hold that of g^2
    //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //+ second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * first[i] * first[i];
    //! mistake no_square: second holds the mean of g: the square is missing
    //- second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //+ second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g;
    //! mistake corrects_the_memory: the corrected means were stored in first and second, and
    //!   corrected again at the next step
    // first[i] = (Real(beta1_) * first[i] + Real(1 - beta1_) * g) / first_correction;
    // second[i] = (Real(beta2_) * second[i] + Real(1 - beta2_) * g * g) / second_correction;
    // parameter[i] -= Real(rate) * first[i] / (std::sqrt(second[i]) + Real(epsilon_));
    //! mistake forgets_the_memory: the means were not kept for the next step: first and second must
    //!   get the new values
    // const Real m = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    // const Real v = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    // parameter[i] -= Real(rate) * (m / first_correction) /
    //                 (std::sqrt(v / second_correction) + Real(epsilon_));
    //! mistake old_means: the parameter was moved before the means were updated: the first step is
    //!   0 then
    // parameter[i] -= Real(rate) * (first[i] / first_correction) /
    //                 (std::sqrt(second[i] / second_correction) + Real(epsilon_));
    // first[i] = Real(beta1_) * first[i] + Real(1 - beta1_) * g;
    // second[i] = Real(beta2_) * second[i] + Real(1 - beta2_) * g * g;
    //! mistake no_decay: weight decay was left out
    //- g += Real(weight_decay) * parameter[i];
    //! mistake no_decoupled_decay: weight decay was left out
    //- parameter[i] -= Real(rate * weight_decay) * parameter[i];
    //! mistake uphill: the step goes along the gradient, uphill
    //- parameter[i] -= Real(rate) * (first[i] / first_correction) /
    //+ parameter[i] += Real(rate) * (first[i] / first_correction) /
    //! mistake overwrites: the parameter was replaced by the step
    //- parameter[i] -= Real(rate) * (first[i] / first_correction) /
    //+ parameter[i] = -Real(rate) * (first[i] / first_correction) /
    //! end
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
