//! title: gradcheck
//! replaces: headroom::gradcheck
//! minutes: 30
//! difficulty: 3
//! path: short
//! hint: The sum of a softmax is 1, whatever its input is. Which dy asks about more than the sum?
//!   And what must be there before the second pass, so that "=" and "+=" differ?
//! hint: dy: random_like(y, rng). before: zeros for c == 0, else random_like(x, rng), and subtract
//!   it after the pass. slope: four values loss(h), loss(-h), loss(2 * h), loss(-2 * h). NaN: an
//!   error of NaN is neither > 1 nor <= 1.
//! hint: const double allowed = double(options.absolute) + double(options.relative) *
//!   std::max(std::abs(analytic), std::abs(numeric)); error = std::abs(analytic - numeric) /
//!   allowed; if (!(error <= 1)) result.passed = false; and for each input i and element e
//!   compare(Index(i), e, double(gradients[i][e]), slope([&](Real t) { return moved(inputs, i, e,
//!   t); }, options.step * std::max(Real(1), std::abs(inputs[i][e]))));
//! after: The library's own evaluates the function once for all cotangents. Every operation of the
//!   library passes it, and so will yours: ./headroom learn milestone 02.
// Exercise 02/2, gradcheck: how would you notice that a gradient is wrong?
#include "2_gradcheck.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

GradcheckResult gradcheck(const Function& function, const Arrays& inputs,
                          const GradcheckOptions& options) {
  Rng rng(options.seed, "gradcheck");
  const Array y = value_of(function, inputs);
  Index elements = 0;
  for (const Array& x : inputs) elements += x.size();

  GradcheckResult result;
  for (int c = 0; c < options.cotangents; ++c) {
    // A question: dL/dy for every element of y.
    //! solution
    const Array dy = random_like(y, rng);
    //! skeleton
    // const Array dy = chapter::todo("dy, an array of y's shape");
    //! wrong ones: the sum of a softmax never moves
    // const Array dy = ones(y.shape());
    //! wrong one_element: only element 0 of y was asked about
    // Array dy = zeros(y.shape());
    // dy[0] = 1;
    //! end

    // The gradients that the inputs have before the pass, and what the pass adds to them.
    //! solution
    Arrays before;
    for (const Array& x : inputs) {
      before.push_back(c == 0 ? zeros(x.shape()) : random_like(x, rng));
    }
    Arrays gradients = backward_pass(function, inputs, before, dy);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (Index e = 0; e < inputs[i].size(); ++e) gradients[i][e] -= before[i][e];
    }
    //! skeleton
    // Arrays before;
    // for (const Array& x : inputs) before.push_back(chapter::todo("what x has before pass c", x));
    // Arrays gradients = backward_pass(function, inputs, before, dy);
    // for (std::size_t i = 0; i < inputs.size(); ++i) {
    //   for (Index e = 0; e < inputs[i].size(); ++e) {
    //     gradients[i][e] = chapter::todo("what the pass has added to element e of input i");
    //   }
    // }
    //! wrong once: no input had a gradient before a pass
    // Arrays before;
    // for (const Array& x : inputs) before.push_back(zeros(x.shape()));
    // Arrays gradients = backward_pass(function, inputs, before, dy);
    //! wrong not_subtracted: what was there before the pass was counted
    //- for (std::size_t i = 0; i < inputs.size(); ++i) {
    //-   for (Index e = 0; e < inputs[i].size(); ++e) gradients[i][e] -= before[i][e];
    //- }
    //! end

    // dL/dt at t = 0, from differences: x(t) are the inputs, moved by t.
    const auto slope = [&](const std::function<Arrays(Real)>& x, Real h) -> double {
      const auto loss = [&](Real t) { return dot(dy, value_of(function, x(t))); };
      //! solution
      return (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * double(h));
      //! skeleton
      // return chapter::todo("the formula with four values of the loss", loss);
      //! mistake one_sided: the slope was taken from x to x + h
      // return (loss(h) - loss(0)) / double(h);
      //! mistake two_points: the formula with two points was used: with h = 0.001 its error is
      //!   about 1e-7, and rightful gradients are refused now and then
      // return (loss(h) - loss(-h)) / (2 * double(h));
      //! mistake plus: the difference over 4 h was added, where it must be subtracted
      // return (8 * (loss(h) - loss(-h)) + (loss(2 * h) - loss(-2 * h))) / (12 * double(h));
      //! mistake not_divided: it was divided by 12, not by 12 h
      // return (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / 12;
      //! end
    };

    // Counts a comparison, and keeps it if it is the worst one so far.
    const auto compare = [&](Index input, Index element, double analytic, double numeric) {
      ++result.compared;
      //! solution
      const double allowed =
          double(options.absolute) +
          double(options.relative) * std::max(std::abs(analytic), std::abs(numeric));
      const double error = std::abs(analytic - numeric) / allowed;
      if (!(error <= 1)) result.passed = false;
      if (error <= double(result.worst) || std::isnan(result.worst)) return;
      //! skeleton
      // const double error = chapter::todo("the error; 1 is what is allowed");
      // result.passed = chapter::todo("false from the first error on that is too large, or NaN");
      // if (error <= double(result.worst) || std::isnan(result.worst)) return;
      //! wrong absolute_only: 10 % wrong in a gradient of 1e-7 went through
      //- const double error = std::abs(analytic - numeric) / allowed;
      //+ const double error = std::abs(analytic - numeric) / double(options.relative);
      //! wrong relative_only: the error was divided by `relative` times the size alone
      //- double(options.absolute) +
      //  double(options.relative) * std::max(std::abs(analytic), std::abs(numeric));
      //! wrong nan_passes: a gradient of NaN went through
      //- if (!(error <= 1)) result.passed = false;
      //+ if (error > 1) result.passed = false;
      //! wrong with_sign: analytic - numeric has no absolute value
      //- const double error = std::abs(analytic - numeric) / allowed;
      //+ const double error = (analytic - numeric) / allowed;
      //! wrong last_not_worst: the last comparison was reported, not the worst
      //- if (error <= double(result.worst) || std::isnan(result.worst)) return;
      //! wrong verdict_of_the_last: passed was decided by the last comparison alone
      //- if (!(error <= 1)) result.passed = false;
      //+ result.passed = error <= 1;
      //! end
      result.worst = Real(error);
      result.input = input;
      result.element = element;
      result.analytic = Real(analytic);
      result.numeric = Real(numeric);
    };

    if (elements > options.full_up_to) {  // too many to move each: random directions through all
      for (int d = 0; d < options.directions; ++d) {
        Arrays along;
        for (const Array& x : inputs) along.push_back(random_like(x, rng));
        compare(-1, -1, dot(gradients, along),
                slope([&](Real t) { return moved(inputs, along, t); }, options.step));
      }
      continue;
    }
    //! solution
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (Index e = 0; e < inputs[i].size(); ++e) {
        const Real h = options.step * std::max(Real(1), std::abs(inputs[i][e]));
        compare(Index(i), e, double(gradients[i][e]),
                slope([&](Real t) { return moved(inputs, i, e, t); }, h));
      }
    }
    //! skeleton
    // // For each element of each input: its gradient, and the slope when it alone is moved.
    // compare(chapter::todo("two loops, over inputs and their elements"), 0, 0, 0);
    //! wrong first_only: missed a fault in element 7
    // for (std::size_t i = 0; i < inputs.size(); ++i) {
    //   const Index e = 0;
    //   const Real h = options.step * std::max(Real(1), std::abs(inputs[i][e]));
    //   compare(Index(i), e, double(gradients[i][e]),
    //           slope([&](Real t) { return moved(inputs, i, e, t); }, h));
    // }
    //! wrong first_input: missed a fault in input 1
    // for (Index e = 0; e < inputs[0].size(); ++e) {
    //   const Real h = options.step * std::max(Real(1), std::abs(inputs[0][e]));
    //   compare(0, e, double(gradients[0][e]),
    //           slope([&](Real t) { return moved(inputs, 0, e, t); }, h));
    // }
    //! wrong fixed_step: the step is the same at 1e+09 as at 1
    //- const Real h = options.step * std::max(Real(1), std::abs(inputs[i][e]));
    //  compare(Index(i), e, double(gradients[i][e]),
    //-         slope([&](Real t) { return moved(inputs, i, e, t); }, h));
    //+         slope([&](Real t) { return moved(inputs, i, e, t); }, options.step));
    //! wrong moves_the_inputs: the inputs themselves were moved
    //+ const auto in_place = [&](Real t) {
    //+   Arrays x = inputs;
    //+   x[i][e] += t;
    //+   return x;
    //+ };
    //  const Real h = options.step * std::max(Real(1), std::abs(inputs[i][e]));
    //- compare(Index(i), e, double(gradients[i][e]),
    //-         slope([&](Real t) { return moved(inputs, i, e, t); }, h));
    //+ compare(Index(i), e, double(gradients[i][e]), slope(in_place, h));
    //! wrong directions_only: a comparison must name its input and element
    // Arrays along;
    // for (const Array& x : inputs) along.push_back(random_like(x, rng));
    // compare(-1, -1, dot(gradients, along),
    //         slope([&](Real t) { return moved(inputs, along, t); }, options.step));
    //! end
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
