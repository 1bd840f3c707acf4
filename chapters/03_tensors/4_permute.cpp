//! title: permute
//! replaces: headroom::permute
//! minutes: 20
//! difficulty: 2
//! needs: 03/2
//! hint: Element i of y has a position along each axis of y. Axis j of y is axis order[j] of x. At
//!   which stride of x does a step along axis j of y move?
//! hint: from is a sum over the axes j of y: the position along j times the stride of axis order[j]
//!   in x. For the way back, ask of each axis of x at which j it is in y.
//! hint: rest = i; for j from rank - 1 down to 0: from += rest % y.dim(j) * stride(x.shape(),
//!   at(order, j)), rest /= y.dim(j). The inverse: at(back, at(order, j)) = j for each j.
//!   dx = permuted(dy, inverse(axes)).
//! after: The library's own kernel, in src/headroom/kernels/permute.cpp, merges axes that stay
//!   together and moves blocks that fit into the cache.
// Exercise 03/4, permute: the axes in another order, and back.
#include "4_permute.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// x with axis order[j] as axis j.
Array permuted(const Array& x, const std::vector<int>& order) {
  Shape shape;
  for (const int axis : order) shape.push_back(x.dim(axis));
  Array y(shape);
  for (Index i = 0; i < y.size(); ++i) {
    //! solution
    Index rest = i, from = 0;
    for (int j = y.rank() - 1; j >= 0; --j) {
      from += rest % y.dim(j) * stride(x.shape(), at(order, j));
      rest /= y.dim(j);
    }
    y[i] = x[from];
    //! skeleton
    // const Index from = chapter::todo("from: the element of x that becomes element i of y");
    // y[i] = x[from];
    //! mistake only_reshaped: the elements stayed where they were, and only the shape is new: that
    //!   is a reshape
    // y[i] = x[i];
    //! mistake other_way: axis j of x became axis order[j] of the result. Axis j of the result is
    //!   axis order[j] of x. Right for a swap, and the inverse of what was asked for otherwise
    // Index rest = i, to = 0;
    // for (int j = y.rank() - 1; j >= 0; --j) {
    //   to += rest % y.dim(j) * stride(x.shape(), at(order, j));
    //   rest /= y.dim(j);
    // }
    // y[to] = x[i];
    //! mistake strides_of_y: the strides of the result were taken, not those of x
    //- from += rest % y.dim(j) * stride(x.shape(), at(order, j));
    //+ from += rest % y.dim(j) * stride(y.shape(), at(order, j));
    //! wrong sizes_of_x: of an array of 6 elements
    //- from += rest % y.dim(j) * stride(x.shape(), at(order, j));
    //- rest /= y.dim(j);
    //+ from += rest % x.dim(j) * stride(x.shape(), at(order, j));
    //+ rest /= x.dim(j);
    //! end
  }
  return y;
}

/// The order that leads back: permuted(permuted(x, order), inverse(order)) is x.
std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> back(order.size());
  for (int j = 0; j < int(order.size()); ++j) {
    //! solution
    at(back, at(order, j)) = j;
    //! skeleton
    // at(back, j) = chapter::todo("the inverse of the order");
    //! mistake same_way_back: dy was moved by the same order again, {1, 2, 0}. That is right for a
    //!   swap of two axes: it is its own inverse. This order is not
    // at(back, j) = at(order, j);
    //! mistake reversed: the list was reversed: {2, 1, 0} for {0, 1, 2}. Moved by both, an array is
    //!   not what it was
    // at(back, j) = at(order, int(order.size()) - 1 - j);
    //! end
  }
  return back;
}

}  // namespace

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  OpScope op("permute");
  const std::vector<int> axes = checked_order(x.shape(), order);
  const Array y = permuted(x.value(), axes);
  //! solution
  return record(op, y, {x}, [axes](const Array& dy, Gradients& into) {
    into[0] += permuted(dy, inverse(axes));
  });
  //! skeleton
  // return record(op, y, {x}, [axes](const Array& dy, Gradients& into) {
  //   const Array dx = chapter::todo("dx: the elements of dy where those of x were");
  //   into[0] += dx;
  // });
  //! mistake gradient_reshaped: dy was only given the shape of x. With the order {0, 2, 1} its
  //!   elements have to move back
  // return record(op, y, {x}, [before = x.shape()](const Array& dy, Gradients& into) {
  //   into[0] += dy.reshaped(before);
  // });
  //! wrong gradient_shape: a gradient has another shape than its input
  // return record(op, y.reshaped(y.shape()), {x}, [](const Array& dy, Gradients& into) {
  //   into[0] += dy.reshaped({dy.size()});
  // });
  //! wrong adds_nothing: no gradient arrived at x
  // return record(op, y, {x}, [](const Array&, Gradients&) {});
  //! wrong overwrites: the gradient of x was replaced, not added to
  //- into[0] += permuted(dy, inverse(axes));
  //+ into[0].sum() = permuted(dy, inverse(axes));
  //! wrong not_recorded: the result is not recorded on the tape
  // return Tensor(y);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
