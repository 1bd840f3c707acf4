// The linear map, and several of them side by side.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/ops/matmul.hpp"
#include "kernels/fetch_ahead.hpp"
#include "kernels/few_rows.hpp"
#include "kernels/gemm.hpp"
#include "kernels/reduce.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void check_shapes(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2) {
    throw ShapeError(
        fmt::format("{}: weight {} is not a matrix [out, in]", op, weight.shape().text()));
  }
  const Index out = weight.dim(0), in = weight.dim(1);
  if (x.rank() == 0) {
    throw ShapeError(fmt::format("{}: x is a single number; it needs the shape [..., {}]", op, in));
  }
  if (x.dim(-1) != in) {
    throw ShapeError(fmt::format("{}: x {} ends in {} features but weight {} takes {}", op,
                                 x.shape().text(), x.dim(-1), weight.shape().text(), in));
  }
  if (bias.defined() && !(bias.shape() == Shape{out})) {
    throw ShapeError(fmt::format("{}: bias {} does not fit weight {}, which needs [{}]", op,
                                 bias.shape().text(), weight.shape().text(), out));
  }
}

/// The number of feature vectors in [..., C].
Index rows_of(const Shape& shape) {
  Index rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) rows *= shape[axis];
  return rows;
}

double gemm_flops(Index m, Index n, Index k) { return 2.0 * double(m) * double(n) * double(k); }

/// Columns of a row-major matrix whose rows are `stride` elements apart.
template <class T>
struct Columns {
  T* data;
  Index stride;
};

/// y = x W^T + b into some columns of a matrix. For a BLAS product y starts as the bias, to which
/// the product is added: BLAS clears y before it adds anyway, so this costs no extra pass.
void forward_into(Columns<Real> y, Index rows, const Array& x, const Array& weight,
                  const Array& bias) {
  const Index out = weight.dim(0), in = weight.dim(1);
  if (rows <= kernels::few_rows_limit) {
    return kernels::few_rows(rows, out, in, Real(1), {x.data(), in}, transposed(weight.data(), in),
                             {.bias = bias.defined() ? bias.data() : nullptr}, y.data, y.stride);
  }
  if (bias.defined()) {
    parallel_for(rows, grain_for(out), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        Real* const row = y.data + r * y.stride;
        kernels::fetch_ahead<kernels::Fetch::to_write>(row, out);
        std::copy_n(bias.data(), out, row);
      }
    });
  }
  gemm(rows, out, in, Real(1), {x.data(), in}, transposed(weight.data(), in),
       bias.defined() ? Real(1) : Real(0), y.data, y.stride);
}

/// dx += dy W and dW += dy^T x, whichever are wanted, at the same time. `x` may be empty where dW
/// is not wanted.
void add_gradients(GradientSlot dx, GradientSlot dw, Columns<const Real> dy, Index rows,
                   const Array& x, const Array& weight) {
  const Index out = weight.dim(0), in = weight.dim(1);
  Product products[2];
  std::size_t count = 0;
  const auto plan = [&](GradientSlot into, Index m, Index k, Factor a, Factor b) {
    const auto [sum, add] = into.write_or_add();
    products[count++] = {m, in, k, Real(1), a, b, add ? Real(1) : Real(0), sum.data(), in};
  };
  if (dx.wanted()) plan(dx, rows, out, {dy.data, dy.stride}, {weight.data(), in});
  if (dw.wanted()) plan(dw, out, rows, transposed(dy.data, dy.stride), {x.data(), in});
  if (count == 2 && products[0].c == products[1].c) {  // linear(x, x): one sum for both
    gemm({products, 1});
    gemm({products + 1, 1});
  } else {
    gemm({products, count});
  }
  OpScope::current()->work(double(count) * gemm_flops(rows, out, in), 0);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  OpScope op("linear");
  check_shapes(op.name(), x, weight, bias);
  const Index rows = rows_of(x.shape()), out = weight.dim(0);
  Array y(x.shape().with(-1, out));
  forward_into({y.data(), out}, rows, x.value(), weight.value(),
               bias.defined() ? bias.value() : Array());
  op.work(gemm_flops(rows, out, weight.dim(1)), 0);
  return record(op, y, {x, weight, bias},
                [x = Saved(x), weight = weight.value(), rows](const Array& dy, Gradients& into) {
                  add_gradients(into[0], into[1], {dy.data(), dy.dim(-1)}, rows,
                                into[1].wanted() ? x.value() : Array(), weight);
                  if (into[2].wanted()) into[2] += column_sums(dy);
                });
}

Tensor linear_side_by_side(const Tensor& x, const std::vector<Tensor>& weights,
                           const std::vector<Tensor>& biases) {
  OpScope op("linear_side_by_side");
  const std::size_t count = weights.size();
  if (count == 0) throw ShapeError(fmt::format("{}: no weights; at least 1 is needed", op.name()));
  if (!biases.empty() && biases.size() != count) {
    throw ShapeError(fmt::format("{}: {} biases for {} weights; give none or one for each",
                                 op.name(), biases.size(), count));
  }
  Index width = 0;
  std::vector<Tensor> inputs{x};  // then the weights, then the biases
  std::vector<Array> weight_values;
  for (std::size_t i = 0; i < count; ++i) {
    check_shapes(op.name(), x, weights[i], biases.empty() ? Tensor() : biases[i]);
    width += weights[i].dim(0);
    inputs.push_back(weights[i]);
    weight_values.push_back(weights[i].value());
  }
  inputs.insert(inputs.end(), biases.begin(), biases.end());

  const Index rows = rows_of(x.shape());
  Array y(x.shape().with(-1, width));
  Index column = 0;
  for (std::size_t i = 0; i < count; ++i) {
    forward_into({y.data() + column, width}, rows, x.value(), weight_values[i],
                 !biases.empty() && biases[i].defined() ? biases[i].value() : Array());
    column += weights[i].dim(0);
  }
  op.work(gemm_flops(rows, width, x.dim(-1)), 0);
  return record(op, y, inputs,
                [saved = Saved(x), weights = std::move(weight_values), rows, count,
                 has_biases = !biases.empty()](const Array& dy, Gradients& into) {
                  bool weights_wanted = false;
                  for (std::size_t i = 0; i < count; ++i) weights_wanted |= into[1 + i].wanted();
                  const Array x_again = weights_wanted ? saved.value() : Array();
                  const Array bias_gradients = has_biases ? column_sums(dy) : Array();
                  Index at = 0;  // column
                  for (std::size_t i = 0; i < count; ++i) {
                    const Index out = weights[i].dim(0);
                    add_gradients(into[0], into[1 + i], {dy.data() + at, dy.dim(-1)}, rows, x_again,
                                  weights[i]);
                    if (has_biases && into[1 + count + i].wanted()) {
                      into[1 + count + i] += Array(
                          Shape{out}, bias_gradients.span().subspan(static_cast<std::size_t>(at),
                                                                    static_cast<std::size_t>(out)));
                    }
                    at += out;
                  }
                });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
