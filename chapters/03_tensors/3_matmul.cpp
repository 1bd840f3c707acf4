//! title: matmul
//! replaces: headroom::matmul
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 03/2
//! hint: Make M, K and N different and write the three shapes down. da is [M, K]. Which product of
//!   dy and b, transposed or not, has this shape?
//! hint: With a [B, M, K] and b [K, N], a^T dy is [B, K, N]: each batch has its contribution to db.
//!   Which function of yours makes [K, N] of it? And what does that function do if the shape is
//!   right already?
//! hint: y = matmul(a.value(), b.value()). In the closure, where a and b are arrays:
//!   into[0] += sum_to(matmul(dy, transposed(b)), a.shape()) and
//!   into[1] += sum_to(matmul(transposed(a), dy), b.shape()).
//! after: The library's own, in src/headroom/ops/matmul.cpp, neither copies a transposed matrix nor
//!   stores the products that are to be added: its kernel reads in any order and adds in place.
// Exercise 03/3, matmul: the matrix product and its two gradients.
#include "3_matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor matmul(const Tensor& a, const Tensor& b) {
  OpScope op("matmul");
  //! solution
  const Array y = matmul(a.value(), b.value());
  //! skeleton
  // const Array y = chapter::todo("y: the product of the arrays");
  //! mistake like_linear: b was transposed: linear() does that, matmul() does not
  // const Array y = matmul(a.value(), transposed(b.value()));
  //! mistake factors_exchanged: b a was computed, not a b
  // const Array y = matmul(b.value(), a.value());
  //! wrong not_recorded: the result is not recorded on the tape
  // const Array y = matmul(a.value(), b.value());
  // if (y.defined()) return Tensor(y);
  //! end
  return record(op, y, {a, b}, [a = a.value(), b = b.value()](const Array& dy, Gradients& into) {
    //! solution
    if (into[0].wanted()) into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //! skeleton
    // if (into[0].wanted()) {
    //   const Array da = chapter::todo("da, of the shape of a");
    //   into[0] += da;
    // }
    // if (into[1].wanted()) {
    //   const Array db = chapter::todo("db, of the shape of b");
    //   into[1] += db;
    // }
    //! mistake no_transpose: da = dy b was computed, without a transpose: it has the shape of a
    //!   only because b is square
    //- if (into[0].wanted()) into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    //+ into[0] += sum_to(matmul(dy, b), a.shape());
    //! mistake no_transpose_of_a: db = a dy was computed, without a transpose: it has the shape of
    //!   b only because a is square
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ into[1] += sum_to(matmul(a, dy), b.shape());
    //! mistake dy_transposed: dy was transposed. It is the other factor that is: b
    //- if (into[0].wanted()) into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    //+ into[0] += sum_to(matmul(transposed(dy), b), a.shape());
    //! mistake order: the factors are exchanged: b^T is on the right of dy, as b was on the right
    //!   of a
    //- if (into[0].wanted()) into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    //+ into[0] += sum_to(matmul(transposed(b), dy), a.shape());
    //! mistake swapped: da and db are exchanged: into[0] is the gradient of a
    //- if (into[0].wanted()) into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    //+ into[0] += sum_to(matmul(transposed(a), dy), a.shape());
    //! mistake dy_transposed_for_b: dy was transposed. It is the other factor that is: a
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ into[1] += sum_to(matmul(transposed(dy), a), b.shape());
    //! mistake order_for_b: the factors are exchanged: a^T is on the left of dy, as a was on the
    //!   left of b
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ into[1] += sum_to(matmul(dy, transposed(a)), b.shape());
    //! mistake swapped_for_b: da and db are exchanged: into[1] is the gradient of b
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ into[1] += sum_to(matmul(dy, transposed(b)), b.shape());
    //! wrong first_axes: right for two matrices, wrong with an axis in front
    // into[0] += sum_to(matmul(dy, transposed(b, 0, 1)), a.shape());
    // into[1] += sum_to(matmul(transposed(a, 0, 1), dy), b.shape());
    //! wrong not_summed: b [4, 3] is multiplied with 5 matrices
    // into[0] += matmul(dy, transposed(b));
    // into[1] += matmul(transposed(a), dy);
    //! mistake last_batch: the gradient of b is that of the last batch alone: every batch has a
    //!   contribution
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ const Array all = matmul(transposed(a), dy);
    //+ into[1] += all.rank() > b.rank()
    //+                ? slice(all, {0, all.dim(0) - 1, all.dim(0)}).reshaped(b.shape())
    //+                : sum_to(all, b.shape());
    //! wrong mean: 5 times too small, which is B
    //- if (into[1].wanted()) into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    //+ Array db = sum_to(matmul(transposed(a), dy), b.shape());
    //+ for (Index i = 0; a.rank() > b.rank() && i < db.size(); ++i) db[i] /= Real(a.dim(0));
    //+ into[1] += db;
    //! wrong either: no gradient arrived at b
    // if (into[0].wanted()) {
    //   into[0] += sum_to(matmul(dy, transposed(b)), a.shape());
    // } else if (into[1].wanted()) {
    //   into[1] += sum_to(matmul(transposed(a), dy), b.shape());
    // }
    //! wrong overwrites: the gradient of a was replaced, not added to
    // into[0].sum() = sum_to(matmul(dy, transposed(b)), a.shape());
    // into[1].sum() = sum_to(matmul(transposed(a), dy), b.shape());
    //! wrong adds_nothing: no gradient arrived at a
    //! end
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
