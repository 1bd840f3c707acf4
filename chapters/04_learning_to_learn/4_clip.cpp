//! title: clip_grad_norm
//! replaces: headroom::clip_grad_norm
//! minutes: 10
//! difficulty: 1
//! needs: 04/3
//! hint: How many norms does a model with a hundred parameters have here? When do you know the
//!   factor, and how often must you go through the parameters?
//! hint: Two passes. The first adds up the squares of all elements of all gradients. Between them:
//!   the norm, and return it if there is nothing to shorten. The second multiplies.
//! hint: if (!std::isfinite(norm) || factor >= 1) return norm; then for each gradient that is
//!   defined: Array scaled = p.tensor.grad().clone(); multiply each element by Real(factor);
//!   p.tensor.set_grad(scaled).
//! after: A norm for each tensor would give another direction, and another one in each layout of
//!   the heads: chapter 08.
// Exercise 04/4, clip_grad_norm: the same direction, at most so far.
#include "4_clip.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double clip_grad_norm(Module& module, double limit) {
  if (!(limit > 0)) {
    throw UsageError(fmt::format("clip_grad_norm: the limit {} is not positive", limit));
  }
  double squares = 0;
  for (const NamedParameter& p : parameters(module)) {
    //! solution
    if (!p.tensor.grad().defined()) continue;
    for (const Real g : p.tensor.grad().span()) squares += double(g) * double(g);
    //! skeleton
    // const double own = chapter::todo("the sum of the squares of p.tensor.grad()", p);
    // squares += own;
    //! mistake sum_of_magnitudes: the magnitudes were added, where the squares should be
    //-   for (const Real g : p.tensor.grad().span()) squares += double(g) * double(g);
    //+   for (const Real g : p.tensor.grad().span()) squares += std::abs(double(g));
    //  }
    //- const double norm = std::sqrt(squares);
    //+ const double norm = squares;
    //! mistake largest_element: the largest element was taken for the norm
    // if (!p.tensor.grad().defined()) continue;
    // for (const Real g : p.tensor.grad().span()) {
    //   squares = std::max(squares, double(g) * double(g));
    // }
    //! mistake last_tensor: only the last gradient was measured: add all of them up
    //+ squares = 0;
    //  for (const Real g : p.tensor.grad().span()) squares += double(g) * double(g);
    //! end
  }
  //! solution
  const double norm = std::sqrt(squares);
  const double factor = limit / (norm + 1e-6);
  if (!std::isfinite(norm) || factor >= 1) return norm;
  //! skeleton
  // const double norm = std::sqrt(squares);
  // const double factor = chapter::todo("the factor; and when is there nothing to do?");
  //! mistake no_root: the root is missing
  //- const double norm = std::sqrt(squares);
  //+ const double norm = squares;
  //! wrong lengthens: a gradient that was short enough was changed
  //- if (!std::isfinite(norm) || factor >= 1) return norm;
  //+ if (!std::isfinite(norm)) return norm;
  //! wrong erases: an infinite norm makes the factor 0
  //- if (!std::isfinite(norm) || factor >= 1) return norm;
  //+ if (!(factor < 1)) return norm;
  //! wrong spreads: one NaN was multiplied into all gradients
  // const double norm = std::sqrt(squares);
  // const double factor = std::min(limit / (norm + 1e-6), 1.0);
  //! mistake factor_of_the_squares: the factor was applied twice
  // const double norm = std::sqrt(squares);
  // const double once = limit / (norm + 1e-6), factor = once * once;
  // if (!std::isfinite(norm) || once >= 1) return norm;
  //! end
  for (NamedParameter& p : parameters(module)) {
    //! solution
    if (!p.tensor.grad().defined()) continue;
    Array scaled = p.tensor.grad().clone();
    for (Real& g : scaled.span()) g *= Real(factor);
    p.tensor.set_grad(scaled);
    //! skeleton
    // p.tensor.set_grad(chapter::todo("the scaled gradient, if there is one", factor));
    //! mistake each_tensor: each gradient was scaled by its own norm. That changes the direction:
    //!   one norm over all parameters, one factor
    //- for (Real& g : scaled.span()) g *= Real(factor);
    //+ double own = 0;
    //+ for (const Real g : scaled.span()) own += double(g) * double(g);
    //+ for (Real& g : scaled.span()) g *= Real(std::min(1.0, limit / (std::sqrt(own) + 1e-6)));
    //! mistake by_value: each element was cut off at the limit. That changes the direction, and the
    //!   norm can still be far above the limit
    //- for (Real& g : scaled.span()) g *= Real(factor);
    //+ for (Real& g : scaled.span()) g = std::clamp(g, Real(-limit), Real(limit));
    //! wrong of_somebody_else: an array that somebody else holds was changed
    // if (!p.tensor.grad().defined()) continue;
    // for (Real& g : p.tensor.mutable_grad().span()) g *= Real(factor);
    //! mistake scales_a_copy: the gradients were not changed: a clone has its own elements, and
    //!   set_grad() hands it over
    //- p.tensor.set_grad(scaled);
    //! mistake scales_the_weights: the parameters were scaled, where the gradients should be
    // if (!p.tensor.grad().defined()) continue;
    // for (Real& x : p.tensor.edit_value().span()) x *= Real(factor);
    //! mistake norm_afterwards: this is the norm after clipping. The norm before tells whoever
    //!   looks at it how often clipping happens, and that a step was strange
    //- return norm;
    //+ return norm * factor;
    //! end
  }
  return norm;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
