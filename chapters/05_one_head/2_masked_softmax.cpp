//! title: masked_softmax
//! replaces: headroom::masked_softmax
//! minutes: 15
//! difficulty: 2
//! path: short
//! needs: 04/1
//! hint: Which of the three loops of a softmax must skip an element that is not allowed? What is
//!   the sum of a row in which all are skipped?
//! hint: Three loops over a row, each of them with `if (mask[i] == 0) continue;`: the maximum, the
//!   exponentials and their sum, the division. On the way back two loops, as in exercise 04/1.
//! hint: Let `largest` begin at -infinity. y[i] = std::exp(x.value()[i] - largest) if mask[i] != 0;
//!   a row without allowed elements never gets to the division, so it stays 0.
//!   dx[i] = y[i] * (dy[i] - mean): where y is 0, dx is 0 without another test.
//! after: composed::masked_softmax is the same function without a loop: it reads the allowed
//!   elements by where(), before any arithmetic.
// Exercise 05/2, masked_softmax: keys that are not there.
#include "2_masked_softmax.hpp"

#include <limits>

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor masked_softmax(const Tensor& x, const Bytes& allowed) {
  OpScope op("masked_softmax");
  if (x.rank() == 0) {
    throw ShapeError("masked_softmax: x [] is a single number; it needs a last axis");
  }
  const Bytes mask = chapter::spread(allowed, x.shape());
  const Index columns = x.dim(-1);
  Array y = zeros(x.shape());
  for (Index row = 0; row < y.size(); row += columns) {
    //! solution
    Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (Index i = row; i < row + columns; ++i) {
      if (mask[i] != 0) largest = std::max(largest, x.value()[i]);
    }
    for (Index i = row; i < row + columns; ++i) {
      if (mask[i] == 0) continue;
      y[i] = std::exp(x.value()[i] - largest);
      sum += y[i];
    }
    for (Index i = row; i < row + columns; ++i) {
      if (mask[i] != 0) y[i] /= sum;
    }
    //! skeleton
    // for (Index i = row; i < row + columns; ++i) {
    //   y[i] = chapter::todo("the weight of element i among the allowed ones");
    // }
    //! mistake minus_1e9: the elements were replaced by -1e9, and a row that has nothing else is a
    //!   softmax of equal numbers. The query then averages keys that it must not see
    // Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    // const auto score = [&](Index i) { return mask[i] != 0 ? x.value()[i] : Real(-1e9); };
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, score(i));
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(score(i) - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! mistake adds_minus_1e9: -1e9 was added to the elements, and softmax does not change when a
    //!   row is shifted. The query then listens to keys that it must not see
    // Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    // const auto score = [&](Index i) {  // float would round all of x away beside -1e9
    //   return x.value()[i] + (mask[i] != 0 ? Real(0) : Real(is_double ? -1e9 : -1e4));
    // };
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, score(i));
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(score(i) - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong minus_infinity: infinity minus infinity
    // Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    // const auto score = [&](Index i) {
    //   return mask[i] != 0 ? x.value()[i] : -std::numeric_limits<Real>::infinity();
    // };
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, score(i));
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(score(i) - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! mistake mask_ignored: the mask was ignored
    //- if (mask[i] != 0) largest = std::max(largest, x.value()[i]);
    //+ largest = std::max(largest, x.value()[i]);
    // ...
    //- if (mask[i] == 0) continue;
    // ...
    //- if (mask[i] != 0) y[i] /= sum;
    //+ y[i] /= sum;
    //! mistake mask_after: the mask was applied after the softmax: the weights of a row no longer
    //!   sum to 1, and the sum that they were divided by has the forbidden elements in it
    // Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    // for (Index i = row; i < row + columns; ++i) {
    //   sum += y[i] = std::exp(x.value()[i] - largest);
    // }
    // for (Index i = row; i < row + columns; ++i) y[i] *= Real(mask[i]) / sum;
    //! mistake inverted: the mask was read the other way round: 1 means allowed
    //- if (mask[i] != 0) largest = std::max(largest, x.value()[i]);
    //+ if (mask[i] == 0) largest = std::max(largest, x.value()[i]);
    // ...
    //- if (mask[i] == 0) continue;
    //+ if (mask[i] != 0) continue;
    // ...
    //- if (mask[i] != 0) y[i] /= sum;
    //+ if (mask[i] == 0) y[i] /= sum;
    //! wrong zero_times_nan: 0 * NaN is NaN
    //- if (mask[i] == 0) continue;
    //- y[i] = std::exp(x.value()[i] - largest);
    //- sum += y[i];
    //+ sum += y[i] = std::exp(x.value()[i] - largest) * Real(mask[i]);
    // ...
    //-   if (mask[i] != 0) y[i] /= sum;
    //+   y[i] = sum > 0 || sum != sum ? y[i] / sum : 0;
    //  }
    //+ if (largest < -1e300) std::fill_n(y.data() + row, columns, Real(0));
    //! wrong largest_of_all: the maximum was searched among all elements
    //- if (mask[i] != 0) largest = std::max(largest, x.value()[i]);
    //+ largest = std::max(largest, x.value()[i]);
    //! end
  }
  const auto backward = [y, columns](const Array& dy, Gradients& into) {
    Array dx = zeros(y.shape());
    for (Index row = 0; row < y.size(); row += columns) {
      //! solution
      Real mean = 0;
      for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
      for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
      //! skeleton
      // for (Index i = row; i < row + columns; ++i) {
      //   dx[i] = chapter::todo("the gradient of element i");
      // }
      //! mistake no_mean: the mean over the row is missing: a weight can only grow if others
      //!   shrink, so each dx is y (dy - mean)
      // for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * dy[i];
      //! mistake plain_mean: the mean was taken without the weights: it is the sum of y dy, where
      //!   elements with weight 0 do not count
      //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
      //+ for (Index i = row; i < row + columns; ++i) mean += dy[i] / Real(columns);
      //! wrong overwrites: the gradient of x was replaced, not added to
      //- into[0] += dx;
      //+ into[0].sum() = dx;
      //! wrong adds_nothing: no gradient arrived at x
      //- into[0] += dx;
      //+ if (dx.size() < 0) into[0] += dx;
      //! wrong not_recorded: the result is not recorded on the tape
      //- return record(op, y, {x}, backward);
      //+ return Tensor(y);
      //! end
    }
    into[0] += dx;
  };
  return record(op, y, {x}, backward);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
