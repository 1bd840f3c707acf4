// Softmax and its relatives on the tape.
#include "headroom/ops/softmax.hpp"

#include "kernels/softmax.hpp"
#include "ops/rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// y_j = e^x_j / sum: dy_j/dx_i = y_j ([i = j] - y_i), so dx_i = y_i (dy_i - sum_j y_j dy_j).
Tensor softmax(const Tensor& x) {
  OpScope op("softmax");
  const auto [rows, columns] = rows_of(op, x.value());
  Array y(x.shape());
  kernels::softmax(x.value().data(), rows, columns, y.data());
  return record(op, y, {x}, [y, rows = rows, columns = columns](const Array& dy, Gradients& into) {
    const auto [dx, add] = into[0].write_or_add();
    kernels::softmax_backward(y.data(), dy.data(), rows, columns, add, dx.data());
  });
}

// y_j = x_j - log sum_i e^x_i: dy_j/dx_i = [i = j] - e^y_i, so dx_i = dy_i - e^y_i sum_j dy_j.
Tensor log_softmax(const Tensor& x) {
  OpScope op("log_softmax");
  const auto [rows, columns] = rows_of(op, x.value());
  Array y(x.shape());
  kernels::log_softmax(x.value().data(), rows, columns, y.data());
  return record(op, y, {x}, [y, rows = rows, columns = columns](const Array& dy, Gradients& into) {
    const auto [dx, add] = into[0].write_or_add();
    kernels::log_softmax_backward(y.data(), dy.data(), rows, columns, add, dx.data());
  });
}

namespace {

/// The condition repeated to x's shape.
Bytes spread(const Bytes& allowed, const Shape& shape) {
  if (allowed.shape() == shape) return allowed;
  if (!broadcasts_to(allowed.shape(), shape)) {
    throw ShapeError(fmt::format("masked_softmax: allowed {} does not broadcast to x {}",
                                 allowed.shape().text(), shape.text()));
  }
  Bytes result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    // The position of i in `allowed`, axis by axis from the last; axes of size 1 are repeated.
    Index from = 0, stride = 1, rest = i;
    for (int axis = 1; axis <= allowed.rank(); ++axis) {
      if (allowed.dim(-axis) != 1) from += rest % shape[-axis] * stride;
      rest /= shape[-axis];
      stride *= allowed.dim(-axis);
    }
    result[i] = allowed[from];
  }
  return result;
}

}  // namespace

// As softmax; y is 0 where it is not allowed, and so is dx.
Tensor masked_softmax(const Tensor& x, const Bytes& allowed) {
  OpScope op("masked_softmax");
  const auto [rows, columns] = rows_of(op, x.value());
  const Bytes mask = spread(allowed, x.shape());
  Array y(x.shape());
  kernels::masked_softmax(x.value().data(), mask.data(), rows, columns, y.data());
  return record(op, y, {x}, [y, rows = rows, columns = columns](const Array& dy, Gradients& into) {
    const auto [dx, add] = into[0].write_or_add();
    kernels::softmax_backward(y.data(), dy.data(), rows, columns, add, dx.data());
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
