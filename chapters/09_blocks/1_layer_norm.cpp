//! title: layer_norm
//! replaces: headroom::layer_norm
//! minutes: 30
//! difficulty: 3
//! path: short
//! needs: 03/1
//! hint: How many loops over the row do you need before you can write the first n? And backwards:
//!   if only x[0] changes, which elements of n change, and in how many ways?
//! hint: First a loop for the mean, then one for the variance, then one for n. Backward: with
//!   g = dy * weight, a first loop over the row collects mean_g and mean_gn and adds to dweight and
//!   dbias; a second one writes dx.
//! hint: rstd = 1 / std::sqrt(variance + epsilon), n = (x - mean) * rstd.
//!   dx[c] = rstd * (g[c] - mean_g - n[c] * mean_gn), dweight[c] += dy[c] * n[c],
//!   dbias[c] += dy[c], with g[c] = dy[c] * w[c].
//! after: The library's own, in src/headroom/kernels/layer_norm.cpp, is the same three loops,
//!   vectorised and with the rows in parallel. composed::layer_norm is the same function out of
//!   other operations.
// Exercise 09/1, layer_norm: every token to mean 0 and variance 1.
#include "1_layer_norm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void check_per_column(const Tensor& x, const char* name, const Tensor& given) {
  if (!given.defined() || given.shape() == Shape{x.dim(-1)}) return;
  throw ShapeError("layer_norm: x " + x.shape().text() + " ends in " + std::to_string(x.dim(-1)) +
                   " features but " + name + " " + given.shape().text() + " does not have shape [" +
                   std::to_string(x.dim(-1)) + "]");
}

/// The rows of x with mean 0 and variance 1, and 1 / sqrt(variance + epsilon) of each row.
struct Normalised {
  Array n, rstd;
};

Normalised normalised(const Array& x, Real epsilon) {
  const Index columns = x.dim(-1), rows = x.shape().without(-1).size();
  Normalised result{Array(x.shape()), Array({rows})};
  for (Index r = 0; r < rows; ++r) {
    const Index at = r * columns;  // element c of this row is x[at + c]
    //! solution
    Real sum = 0, squares = 0;
    for (Index c = 0; c < columns; ++c) sum += x[at + c];
    const Real mean = sum / Real(columns);
    for (Index c = 0; c < columns; ++c) squares += (x[at + c] - mean) * (x[at + c] - mean);
    const Real variance = squares / Real(columns);
    //! skeleton
    // const Real mean = chapter::todo("the mean of the row");
    // const Real variance = chapter::todo("the variance of the row, around its mean");
    //! mistake unbiased: the squares were divided by C - 1; this variance is the mean of the
    //!   squares
    //- const Real variance = squares / Real(columns);
    //+ const Real variance = squares / Real(columns - 1);
    //! mistake not_divided: the squares were added up, not averaged: divide by C
    //- const Real variance = squares / Real(columns);
    //+ const Real variance = squares;
    //! wrong one_pass: the difference of two large numbers
    // Real sum = 0, squares = 0;
    // for (Index c = 0; c < columns; ++c) {
    //   sum += x[at + c];
    //   squares += x[at + c] * x[at + c];
    // }
    // const Real mean = sum / Real(columns);
    // const Real variance = squares / Real(columns) - mean * mean;
    //! mistake whole_array: the mean and the variance are those of all rows together; each row has
    //!   its own
    // Real sum = 0, squares = 0;
    // for (Index i = 0; i < x.size(); ++i) sum += x[i];
    // const Real mean = sum / Real(x.size());
    // for (Index i = 0; i < x.size(); ++i) squares += (x[i] - mean) * (x[i] - mean);
    // const Real variance = squares / Real(x.size());
    //! end

    //! solution
    result.rstd[r] = 1 / std::sqrt(variance + epsilon);
    //! skeleton
    // result.rstd[r] = chapter::todo("1 / the standard deviation, with epsilon", variance);
    //! mistake epsilon_outside: epsilon was added to the standard deviation. It belongs under the
    //!   root, to the variance
    // result.rstd[r] = 1 / (std::sqrt(variance) + epsilon);
    //! mistake no_epsilon: epsilon is missing: a row of equal elements would give 0 / 0
    // result.rstd[r] = 1 / std::sqrt(variance);
    //! mistake no_root: the root is missing: the row was divided by its variance
    // result.rstd[r] = 1 / (variance + epsilon);
    //! end
    for (Index c = 0; c < columns; ++c) {
      //! solution
      result.n[at + c] = (x[at + c] - mean) * result.rstd[r];
      //! skeleton
      // result.n[at + c] = chapter::todo("the normalised element", mean);
      //! mistake keeps_the_mean: the mean was not subtracted from the elements
      // result.n[at + c] = x[at + c] * result.rstd[r];
      //! end
    }
  }
  return result;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Real epsilon) {
  OpScope op("layer_norm");
  if (x.shape().rank() == 0) {
    throw ShapeError("layer_norm: x [] is a single number; it needs a last axis");
  }
  check_per_column(x, "weight", weight);
  check_per_column(x, "bias", bias);
  const Index columns = x.dim(-1);
  const Array w = weight.defined() ? weight.value() : Array({columns}, 1);
  const Array b = bias.defined() ? bias.value() : Array({columns}, 0);

  const auto forward = [x = x.value(), w, b, epsilon, columns] {
    Array y = normalised(x, epsilon).n;
    for (Index i = 0; i < y.size(); ++i) y[i] = y[i] * w[i % columns] + b[i % columns];
    return y;
  };
  const auto backward = [x = x.value(), w, epsilon, columns](const Array& dy, Gradients& into) {
    const auto [n, rstd] = normalised(x, epsilon);  // again, which is cheaper than to keep it
    Array dx(x.shape()), dweight({columns}, 0), dbias({columns}, 0);
    for (Index r = 0; r < rstd.size(); ++r) {
      const Index at = r * columns;
      //! solution
      Real mean_g = 0, mean_gn = 0;
      for (Index c = 0; c < columns; ++c) {
        const Real g = dy[at + c] * w[c];
        mean_g += g / Real(columns);
        mean_gn += g * n[at + c] / Real(columns);
        dweight[c] += dy[at + c] * n[at + c];
        dbias[c] += dy[at + c];
      }
      for (Index c = 0; c < columns; ++c) {
        dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      }
      //! skeleton
      // for (Index c = 0; c < columns; ++c) {
      //   // add to dweight[c] and to dbias[c], and collect the two means for dx
      // }
      // for (Index c = 0; c < columns; ++c) {
      //   dx[at + c] = chapter::todo("the gradient of x");
      // }
      //! mistake statistics_fixed: mean and deviation were taken for constants. They depend on x:
      //!   each of them adds a term
      //- dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      //+ dx[at + c] = rstd[r] * dy[at + c] * w[c];
      //! mistake no_n_term: the term with n is missing: a change of x[c] changes the variance of
      //!   its row, too
      //- dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      //+ dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g);
      //! mistake no_mean_term: the term mean(g) is missing: a change of x[c] changes the mean of
      //!   its row, too
      //- dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      //+ dx[at + c] = rstd[r] * (dy[at + c] * w[c] - n[at + c] * mean_gn);
      //! mistake sums_for_means: the two means were not divided by C
      //- Real mean_g = 0, mean_gn = 0;
      //+ Real sum_g = 0, sum_gn = 0;
      // ...
      //- mean_g += g / Real(columns);
      //- mean_gn += g * n[at + c] / Real(columns);
      //+ sum_g += g;
      //+ sum_gn += g * n[at + c];
      // ...
      //- dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      //+ dx[at + c] = rstd[r] * (dy[at + c] * w[c] - sum_g - n[at + c] * sum_gn);
      //! mistake forgets_weight: the weight is missing: g is dy * weight
      //- const Real g = dy[at + c] * w[c];
      //+ const Real g = dy[at + c];
      // ...
      //- dx[at + c] = rstd[r] * (dy[at + c] * w[c] - mean_g - n[at + c] * mean_gn);
      //+ dx[at + c] = rstd[r] * (dy[at + c] - mean_g - n[at + c] * mean_gn);
      //! mistake last_row_of_weight: only the last row was counted: all rows share the weight, so
      //!   their gradients add up
      //- dweight[c] += dy[at + c] * n[at + c];
      //+ dweight[c] = dy[at + c] * n[at + c];
      //! mistake last_row_of_bias: only the last row was counted: all rows share the bias, so their
      //!   gradients add up
      //- dbias[c] += dy[at + c];
      //+ dbias[c] = dy[at + c];
      //! mistake weight_from_x: x was used for the weight's gradient; the weight multiplies n
      //- dweight[c] += dy[at + c] * n[at + c];
      //+ dweight[c] += dy[at + c] * x[at + c];
      //! wrong only_x: no gradient arrived at weight
      //- into[1] += dweight;
      //- into[2] += dbias;
      //! wrong overwrites: the gradient of x was replaced, not added to
      //- into[0] += dx;
      //+ into[0].sum() = dx;
      //! wrong not_recorded: the result is not recorded on the tape
      //- return record(op, forward(), {x, weight, bias}, backward, forward);
      //+ return Tensor(forward());
      //! end
    }
    into[0] += dx;
    into[1] += dweight;
    into[2] += dbias;
  };
  return record(op, forward(), {x, weight, bias}, backward, forward);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
