//! title: find the mistakes: three gradients
//! minutes: 15
//! difficulty: 2
//! needs: 02/2
//! mistake: mean_of_rows: gradcheck failed
//! hint: The message has both numbers. Divide one by the other: is it a number that you know, such
//!   as -1, or the number of rows? And which elements are wrong, all of them or those of one input?
//! hint: mean_of_rows: how much does y move when one element of x moves by 1? scale: how many
//!   elements of y does s[c] move? preference: y grows with b, and falls with a.
//! hint: dx[i] = dy[i % columns] / Real(rows); ds[c] += dy[i] * x[i] for each i; da = -dy p and
//!   db = dy p.
//! after: A wrong factor and a row in place of a sum trained well enough in this chapter's
//!   experiment. gradcheck found all three mistakes in a moment.
// Exercise 02/3: three operations with right values. Their gradients are not.
#include "3_find.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor mean_of_rows(const Tensor& x) {
  OpScope op("mean_of_rows");
  const Index rows = x.dim(0), columns = x.dim(1);
  Array y = zeros({columns});
  //! solution
  for (Index i = 0; i < x.size(); ++i) y[i % columns] += x.value()[i] / Real(rows);
  //! wrong sum_for_mean: the values have changed
  // for (Index i = 0; i < x.size(); ++i) y[i % columns] += x.value()[i];
  //! end
  return record(op, y, {x}, [=](const Array& dy, Gradients& into) {
    Array dx({rows, columns});
    //! solution
    for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns] / Real(rows);
    //! skeleton
    // for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns];
    //! wrong sum_for_mean: the values have changed
    // for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns];
    //! mistake of_a_sum: the gradient is that of a sum: 1/T is missing
    // for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns];
    //! mistake by_columns: it was divided by the number of columns, not of rows
    // for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns] / Real(columns);
    //! mistake by_elements: it was divided by the number of all elements, not of rows
    // for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i % columns] / Real(dx.size());
    //! mistake by_rows_of_dy: the element of dy was taken by the row of x, not by its column
    // for (Index i = 0; i < dx.size(); ++i) {
    //   dx[i] = dy[i / columns % columns] / Real(rows);
    // }
    //! end
    into[0] += dx;
  });
}

Tensor scale(const Tensor& x, const Tensor& s) {
  OpScope op("scale");
  const Array values = x.value(), factors = s.value();
  const Index columns = x.dim(1);
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) y[i] = values[i] * factors[i % columns];
  return record(op, y, {x, s}, [=](const Array& dy, Gradients& into) {
    Array dx(dy.shape()), ds = zeros({columns});
    for (Index i = 0; i < dy.size(); ++i) {
      dx[i] = dy[i] * factors[i % columns];
      //! solution
      ds[i % columns] += dy[i] * values[i];
      //! skeleton
      // ds[i % columns] = dy[i] * values[i];
      //! mistake only_the_mean: s got the share of the last row alone: every row has a
      //!   contribution, and they are added
      // ds[i % columns] = dy[i] * values[i];
      //! mistake mean_of_copies: the mean over the rows was taken: contributions are added
      // ds[i % columns] += dy[i] * values[i] / Real(dy.size() / columns);
      //! mistake factor_missing: the factor x is missing: dy/ds = x
      // ds[i % columns] += dy[i];
      //! wrong replaces_s: a gradient that was there before was replaced
      //- into[1] += ds;
      //+ into[1].sum() = ds;
      //! end
    }
    into[0] += dx;
    into[1] += ds;
  });
}

Tensor preference(const Tensor& a, const Tensor& b) {
  OpScope op("preference");
  Array y(a.shape()), p(a.shape());
  for (Index i = 0; i < y.size(); ++i) {
    const Real more = std::exp(b.value()[i] - a.value()[i]);
    y[i] = std::log(1 + more);
    p[i] = more / (1 + more);
  }
  return record(op, y, {a, b}, [p](const Array& dy, Gradients& into) {
    Array da(dy.shape()), db(dy.shape());
    for (Index i = 0; i < dy.size(); ++i) {
      //! solution
      da[i] = -dy[i] * p[i];
      db[i] = dy[i] * p[i];
      //! skeleton
      // da[i] = -dy[i] * p[i];
      // db[i] = -dy[i] * p[i];
      //! mistake not_the_sign: a and b got the same gradient, and one of them makes the loss grow
      // da[i] = -dy[i] * p[i];
      // db[i] = -dy[i] * p[i];
      //! mistake both_flipped: a and b were exchanged: the loss falls when a grows
      // da[i] = dy[i] * p[i];
      // db[i] = -dy[i] * p[i];
      //! mistake of_the_other: 1 - p was taken for b: that is the probability of the other choice
      // da[i] = -dy[i] * p[i];
      // db[i] = dy[i] * (1 - p[i]);
      //! end
    }
    into[0] += da;
    into[1] += db;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
