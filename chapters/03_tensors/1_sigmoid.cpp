//! title: sigmoid
//! replaces: headroom::sigmoid
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: The value of element i depends on x.value()[i] only. std::exp() takes a number.
//! hint: By the chain rule, dL/dx = dL/ds ds/dx. Which of these three does the closure get?
//! hint: y[i] = 1 / (1 + std::exp(-x.value()[i])), dx[i] = dy[i] * y[i] * (1 - y[i]).
//! after: The library's own, in src/headroom/ops/sigmoid.cpp, computes all elements in one
//!   vectorised pass.
// Exercise 03/1, sigmoid: an operation and its gradient.
#include "1_sigmoid.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  OpScope op("sigmoid");
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) {
    //! solution
    y[i] = 1 / (1 + std::exp(-x.value()[i]));
    //! skeleton
    // y[i] = chapter::todo("the value");
    //! wrong shape: the values have the shape [5, 3], expected [3, 5]
    //- Array y(x.shape());
    //+ Array y({x.dim(1), x.dim(0)});
    //! mistake no_minus: the minus sign in e^-x is missing
    // y[i] = 1 / (1 + std::exp(x.value()[i]));
    //! wrong reads_too_far: index 15 of an array of 15 elements
    // y[i] = 1 / (1 + std::exp(-x.value()[i + 1]));
    //! end
  }
  //! solution
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = dy[i] * y[i] * (1 - y[i]);
    }
    into[0] += dx;
  });
  //! skeleton
  // return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) {
  //     dx[i] = chapter::todo("the gradient, from dy[i] and y[i]");
  //   }
  //   into[0] += dx;
  // });
  //! mistake forgets_dy: dy is missing: the gradient of what comes after never gets through
  //- dx[i] = dy[i] * y[i] * (1 - y[i]);
  //+ dx[i] = y[i] * (1 - y[i]);
  //! mistake uses_x: x is used where the formula has s = sigmoid(x)
  // return record(op, y, {x}, [x = x.value()](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i] * x[i] * (1 - x[i]);
  //   into[0] += dx;
  // });
  //! wrong sign: The sign is flipped
  //- dx[i] = dy[i] * y[i] * (1 - y[i]);
  //+ dx[i] = dy[i] * y[i] * (y[i] - 1);
  //! wrong factor: a constant factor: 2 times too large
  //- dx[i] = dy[i] * y[i] * (1 - y[i]);
  //+ dx[i] = 2 * dy[i] * y[i] * (1 - y[i]);
  //! wrong adds_nothing: no gradient arrived at x
  // return record(op, y, {x}, [](const Array&, Gradients&) {});
  //! wrong overwrites: the gradient of x was replaced, not added to
  // return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
  //   Array& dx = into[0].sum();
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i] * y[i] * (1 - y[i]);
  // });
  //! wrong gradient_shape: a gradient has another shape than its input
  // return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
  //   Array dx({dy.size()});
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i] * y[i] * (1 - y[i]);
  //   into[0] += dx;
  // });
  //! wrong not_recorded: the result is not recorded on the tape
  // return Tensor(y);
  //! wrong no_value: the function returned an undefined tensor
  // return {};
  //! wrong throws: your code threw something that is not a std::exception
  // return record(op, y, {x}, [](const Array& dy, Gradients&) { throw dy.size(); });
  //! wrong endless: was stopped after 10 seconds
  // for (volatile int forever = 1; forever != 0;) {
  // }
  // return Tensor(y);
  //! wrong exits: your code ended the program
  // std::exit(0);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
