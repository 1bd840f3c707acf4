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
  //! wrong one_maximum_for_all: one maximum was subtracted from all rows
  // const Real largest = *std::max_element(x.value().span().begin(), x.value().span().end());
  //! wrong whole_array: the sum went over the whole array
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
    //! wrong no_maximum: e^1000 is infinite
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x.value()[i]);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong maximum_from_zero: the search for the maximum begins at 0
    // Real largest = 0;
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong maximum_of_sizes: the maximum of |x| was subtracted
    // Real largest = 0;
    // for (Index i = row; i < row + columns; ++i) {
    //   largest = std::max(largest, std::abs(x.value()[i]));
    // }
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong adds_a_little: a small number was added to the sum
    // Real largest = x.value()[row];
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    // Real sum = Real(1e-3);
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong sum_without_the_first: the first element of the row is missing in the sum
    // Real largest = x.value()[row];
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row + 1; i < row + columns; ++i) sum += y[i];
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong sum_of_the_last: only the last element of the row is in the sum
    // Real largest = x.value()[row];
    // for (Index i = row; i < row + columns; ++i) largest = std::max(largest, x.value()[i]);
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum = y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong one_maximum_for_all: one maximum was subtracted from all rows
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = std::exp(x.value()[i] - largest);
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong clamps: large inputs were cut off
    // const Real most = is_double ? 700 : 80;
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) {
    //   sum += y[i] = std::exp(std::min(x.value()[i], most));
    // }
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong no_exponential: the exponential is missing
    // Real sum = 0;
    // for (Index i = row; i < row + columns; ++i) sum += y[i] = x.value()[i];
    // for (Index i = row; i < row + columns; ++i) y[i] /= sum;
    //! wrong not_divided: was not divided by the sum of its row
    // for (Index i = row; i < row + columns; ++i) y[i] = std::exp(x.value()[i]);
    //! wrong whole_array: the sum went over the whole array
    // for (Index i = row; i < row + columns; ++i) y[i] = std::exp(x.value()[i] - largest) / sum;
    //! wrong over_columns: the sum went over the rows, along axis 1
    //+ const Index n = x.dim(1), step = columns;
    //+ for (Index i = 0; i < y.size(); ++i) {
    //+   const Index first = i / (n * step) * n * step + i % step;
    //+   Real sum = 0;
    //+   for (Index j = 0; j < n; ++j) sum += std::exp(x.value()[first + j * step]);
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
  //! wrong diagonal_only: the sum over the row is missing
  // return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = y[i] * dy[i];
  //   into[0] += dx;
  // });
  //! wrong like_sigmoid: y (1 - y) was taken
  // return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = y[i] * (1 - y[i]) * dy[i];
  //   into[0] += dx;
  // });
  //! wrong plain_sum: the sum over the row is that of dy
  //- Real mean = 0;
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ Real sum = 0;
  //+ for (Index i = row; i < row + columns; ++i) sum += dy[i];
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - sum);
  //! wrong grows: the sum over the row is not set back
  //+ Real mean = 0;
  //  for (Index row = 0; row < dx.size(); row += columns) {
  //-   Real mean = 0;
  //! wrong of_the_logarithm: it is the gradient of log softmax
  //- Real mean = 0;
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //- for (Index i = row; i < row + columns; ++i) dx[i] = y[i] * (dy[i] - mean);
  //+ Real sum = 0;
  //+ for (Index i = row; i < row + columns; ++i) sum += dy[i];
  //+ for (Index i = row; i < row + columns; ++i) dx[i] = dy[i] - y[i] * sum;
  //! wrong mean_over_columns: the sum over the row was divided by the number of columns
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i] / Real(columns);
  //! wrong begins_late: the first element of the row is missing in the sum
  //- for (Index i = row; i < row + columns; ++i) mean += y[i] * dy[i];
  //+ for (Index i = row + 1; i < row + columns; ++i) mean += y[i] * dy[i];
  //! wrong keeps_the_last: only the last element of the row is in the sum
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
