//! title: softmax
//! replaces: headroom::softmax
//! minutes: 15
//! difficulty: 1
//! path: short
//! needs: 03/1
//! hint: What is softmax of (x_1 + s, x_2 + s) for a number s? Which s keeps the largest exponent
//!   at 0?
//! hint: Three loops over a row: its maximum; the exponentials and their sum; the division. On the
//!   way back two: the sum of y_j dy_j over the row; then dx_i for each i.
//! hint: y[i] = std::exp(x.value()[i] - largest), then y[i] /= sum.
//!   dx[i] = y[i] * (dy[i] - mean), with mean = sum_j y[j] * dy[j] of the same row.
//! after: The closure keeps y, not x. The next operation keeps y as well, so this costs no memory.
//!   The library's own, in src/headroom/ops/softmax.cpp, computes several exponentials at once.
// Exercise 04/1, softmax: shares that add up to 1.
#include "1_softmax.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor softmax(const Tensor& x) {
  OpScope op("softmax");
  if (x.rank() == 0) {
    throw ShapeError("softmax: x [] is a single number; it needs a last axis");
  }
  const Index columns = x.dim(-1);
  Array y(x.shape());
  //! solution
  //! skeleton
  //! wrong in_place: your function changed its input x
  //- Array y(x.shape());
  //+ Array y = x.value();
  //! mistake whole_array: the sum went over the whole array: every row adds up to 1 by itself
  // Real sum = 0;
  // const Real largest = *std::max_element(x.value().span().begin(), x.value().span().end());
  // for (const Real v : x.value().span()) sum += std::exp(v - largest);
  //! end
  for (Index row = 0; row < y.size(); row += columns) {  // the row's first element
    //! solution
    Real largest = x.value()[row];
    for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    Real sum = 0;
    for (Index i = row; i < row + columns; ++i) {
      y[i] = std::exp(x.value()[i] - largest);
      sum += y[i];
    }
    for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! skeleton
    // for (Index i = row; i < row + columns; ++i) {
    //   y[i] = chapter::todo("the share of element i in its row");
    // }
    //! mistake no_maximum: nothing was subtracted from the exponents: e^1000 is infinite, and
    //!   infinity divided by infinity is not a number. Softmax does not change when the same number
    //!   is subtracted from all elements of a row
    //- y[i] = std::exp(x.value()[i] - largest);
    //+ y[i] = std::exp(x.value()[i]);
    //! mistake maximum_from_zero: the search for the maximum begins at 0: no element of such a row
    //!   is above it, so nothing is subtracted, each e^x is 0, and 0 / 0 is not a number
    //- Real largest = x.value()[row];
    //+ Real largest = 0;
    //! mistake maximum_of_sizes: the maximum of |x| was subtracted: in a row of negative numbers
    //!   each e^x then is 0, and 0 / 0 is not a number. The largest x is nearest to 0 there
    //- for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    //+ for (Index i = row; i < row + columns; ++i) {
    //+   largest = std::max(std::abs(largest), std::abs(x.value()[i]));
    //+ }
    //! wrong adds_a_little: a small number was added to the sum
    //- Real sum = 0;
    //+ Real sum = Real(1e-3);
    //! mistake sum_without_the_first: the first element of the row is missing in the sum: the loop
    //!   begins one late
    //- sum += y[i];
    //+ if (i > row) sum += y[i];
    //! mistake sum_of_the_last: only the last element of the row is in the sum: each one replaced
    //!   the one before, where += adds
    //- sum += y[i];
    //+ sum = y[i];
    //! mistake one_maximum_for_all: one maximum was subtracted from all rows: in a row that is far
    //!   below it, each e^x is 0, and 0 / 0 is not a number
    //- Real largest = x.value()[row];
    //- for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    //+ const auto all = x.value().span();
    //+ const Real largest = *std::max_element(all.begin(), all.end());
    //! mistake clamps: large inputs were cut off: all of them get the same share then
    //- y[i] = std::exp(x.value()[i] - largest);
    //+ y[i] = std::exp(std::min(x.value()[i], Real(is_double ? 700 : 80)));
    //! mistake no_exponential: the exponential is missing: x was divided by the sum of x
    //- y[i] = std::exp(x.value()[i] - largest);
    //+ y[i] = x.value()[i];
    //! mistake not_divided: nothing was divided: e^x was not divided by the sum of its row
    // for (Index i = row; i < row + columns; ++i) y[i] = std::exp(x.value()[i]);
    //! mistake whole_array: the sum went over the whole array
    // for (Index i = row; i < row + columns; ++i) y[i] = std::exp(x.value()[i] - largest) / sum;
    //! mistake over_columns: the sum went over the rows, along axis 1: it belongs to the last axis
    //+ const Index n = x.dim(1), step = columns;
    //+ for (Index i = 0; i < y.size(); ++i) {
    //+   const Index first = i / (n * step) * n * step + i % step;
    //+   Real sum = 0;
    //+   for (Index j = 0; j < n; ++j) sum += std::exp(x.value()[first + j * step]);
    //+   y[i] = std::exp(x.value()[i]) / sum;
    //+ }
    //  return record(op, y, {x}, [y, columns](const Array& dy, Gradients& into) {
    //! mistake over_axis_0: the sum went over axis 0: it belongs to the last axis
    //+ const Index step = y.size() / x.dim(0);
    //+ for (Index i = 0; i < y.size(); ++i) {
    //+   Real sum = 0;
    //+   for (Index j = i % step; j < y.size(); j += step) sum += std::exp(x.value()[j]);
    //+   y[i] = std::exp(x.value()[i]) / sum;
    //+ }
    //  return record(op, y, {x}, [y, columns](const Array& dy, Gradients& into) {
    //! wrong flat: have the shape [6, 5], expected [2, 3, 5]
    //+ y = y.reshaped({y.size() / columns, columns});
    //  return record(op, y, {x}, [y, columns](const Array& dy, Gradients& into) {
    //! end
  }
  //! solution
  return record(op, y, {x}, [y, columns](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index row = 0; row < dx.size(); row += columns) {
      Real mean = 0;
      for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
      for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
    }
    into[0] += dx;
  });
  //! skeleton
  // return record(op, y, {x}, [y, columns](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index row = 0; row < dx.size(); row += columns) {
  //     for (Index i = row; i < row + columns; ++i) {
  //       dx[i] = chapter::todo("the gradient of element i, which needs the whole row of dy");
  //     }
  //   }
  //   into[0] += dx;
  // });
  //! mistake diagonal_only: the sum over the row is missing: a larger x_i also makes the other
  //!   shares smaller
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * dy[i];
  //! mistake like_sigmoid: y (1 - y) was taken, the derivative of y_i by its own x_i. The other
  //!   shares of the row depend on x_i as well
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (1 - y[i]) * dy[i];
  //! mistake plain_sum: the sum over the row is that of dy, where the formula has y_j dy_j
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row; i < row + columns; ++i) mean += dy[i];
  //! mistake grows: the sum over the row is not set back to 0 when a new row begins
  //+ Real mean = 0;
  //  for (Index row = 0; row < dx.size(); row += columns) {
  //-   Real mean = 0;
  //! mistake no_factor: the factor y_i is missing
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = dy[i] - mean;
  //! mistake of_the_logarithm: it is the gradient of log softmax: dy_i - y_i sum_j dy_j
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ for (Index i = row; i < row + columns; ++i) mean += dy[i];
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = dy[i] - y[i] * mean;
  //! mistake mean_over_columns: the sum over the row was divided by the number of columns: the y_j
  //!   of a row add up to 1, so it is a mean already
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i] / Real(columns);
  //! mistake begins_late: the first element of the row is missing in the sum: the loop begins one
  //!   late
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row + 1; i < row + columns; ++i) mean += y[i] * dy[i];
  //! mistake keeps_the_last: only the last element of the row is in the sum: each one replaced the
  //!   one before, where += adds
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row; i < row + columns; ++i) mean = y[i] * dy[i];
  //! wrong ignores_dy: dy is ignored
  // return record(op, y, {x}, [y](const Array&, Gradients& into) {
  //   Array dx(y.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = y[i] * (1 - y[i]);
  //   into[0] += dx;
  // });
  //! wrong adds_nothing: no gradient arrived at x
  // return record(op, y, {x}, [](const Array&, Gradients&) {});
  //! wrong overwrites: the gradient of x was replaced, not added to
  //- Array dx(dy.shape());
  //+ Array& dx = into[0].sum();
  // ...
  //- into[0] += dx;
  //! wrong not_recorded: the result is not recorded on the tape
  // return Tensor(y);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
