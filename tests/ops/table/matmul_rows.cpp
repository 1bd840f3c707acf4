// Rows of the matrix products.
#include "headroom/ops/matmul.hpp"

#include "headroom/ops/composed.hpp"
#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

/// x [..., n] as a matrix [rows, n].
Array as_matrix(const Array& x) {
  Index rows = 1;
  for (int axis = 0; axis < x.rank() - 1; ++axis) rows *= x.dim(axis);
  return x.reshaped({rows, x.dim(-1)});
}

Shape with_matrix(const Shape& leading, Index rows, Index columns) {
  Shape shape = leading;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

/// x [leading..., M, N] with its leading axes repeated to those of `full`.
Array repeated(const Array& x, const Shape& full) {
  const Shape shape = with_matrix(full, x.dim(-2), x.dim(-1));
  Array result(shape);
  for (Index e = 0; e < result.size(); ++e) result[e] = x[broadcast_index(x.shape(), shape, e)];
  return result;
}

Case draw_matmul(Draw& draw) {
  Shape batch;
  for (Index axis = 0, n = draw.between(0, 2); axis < n; ++axis) {
    batch.push_back(draw.large() ? draw.between(2, 4) : draw.size());
  }
  const Index m = draw.size(), k = draw.size(), n = draw.size();
  const Shape batch_a = draw.broadcasting_to(batch), batch_b = draw.broadcasting_to(batch);
  const Shape full = broadcast("draw", batch_a, batch_b);
  const auto fault = [=](const char* name, bool reshaped, bool first) {
    return Fault{name, [=](const BackwardView& view) {
                   const Array a = repeated(view.x[0], full), b = repeated(view.x[1], full);
                   const auto turned = [reshaped](const Array& x) {
                     return reshaped ? x.reshaped(x.shape().with(-2, x.dim(-1)).with(-1, x.dim(-2)))
                                     : plain_transpose(x);
                   };
                   const Array da = plain_matmul(view.dy, turned(b), full.size());
                   const Array db = plain_matmul(turned(a), view.dy, full.size());
                   const auto to = first ? first_of : summed_to;
                   return Arrays{to(da, view.x[0].shape()), to(db, view.x[1].shape())};
                 }};
  };
  return {
      {normal(with_matrix(batch_a, m, k), draw.rng), normal(with_matrix(batch_b, k, n), draw.rng)},
      [](const Tensors& x) { return matmul(x[0], x[1]); },
      [=](const Arrays& x) {
        return plain_matmul(repeated(x[0], full), repeated(x[1], full), full.size());
      },
      [](const Tensors& x) { return composed::matmul(x[0], x[1]); },
      {fault("reshaped instead of transposed", true, false),
       fault("broadcast matrices are not summed, the first is taken", false, true)}};
}

/// The value of a linear map by plain loops.
Array plain_linear(const Array& x, const Array& weight, const Array* bias) {
  Array y = plain_matmul(as_matrix(x), plain_transpose(weight));
  if (bias != nullptr) y = plain([](long double a, long double b) { return a + b; }, y, *bias);
  return y.reshaped(x.shape().with(-1, weight.dim(0)));
}

Case draw_linear(Draw& draw) {
  const Index in = draw.size(), out = draw.size();
  Shape x_shape = draw.large() ? Shape{draw.between(20, 40), 40} : draw.shape(0, 2);
  x_shape.push_back(in);
  const bool bias = draw.chance(0.7);
  Arrays inputs{normal(x_shape, draw.rng), normal({out, in}, draw.rng)};
  if (bias) inputs.push_back(normal({out}, draw.rng));
  return {inputs,
          [bias](const Tensors& x) { return linear(x[0], x[1], bias ? x[2] : Tensor()); },
          [bias](const Arrays& x) { return plain_linear(x[0], x[1], bias ? &x[2] : nullptr); },
          [bias](const Tensors& x) { return composed::linear(x[0], x[1], bias ? x[2] : Tensor()); },
          {{"the weight's gradient is x^T dy, reshaped",
            [](const BackwardView& b) {
              Arrays result = b.right;
              result[1] = plain_transpose(b.right[1]).reshaped(b.x[1].shape());
              return result;
            }},
           {"the bias gets the mean over the rows, x the gradient of W^T reshaped",
            [bias](const BackwardView& b) {
              Arrays result = b.right;
              const Array turned = plain_transpose(b.x[1]).reshaped(b.x[1].shape());
              result[0] = plain_matmul(as_matrix(b.dy), turned).reshaped(b.x[0].shape());
              if (bias) {
                const auto rows = Real(std::max<Index>(1, as_matrix(b.dy).dim(0)));
                for (Real& d : (result[2] = b.right[2].clone()).span()) d /= rows;
              }
              return result;
            }},
           {"only the last row's gradient reaches weight and bias", [bias](const BackwardView& b) {
              Arrays result = b.right;
              Array dy = b.dy.clone();
              const Index kept = b.x[1].dim(0);
              for (Index e = 0; e < dy.size() - kept; ++e) dy[e] = 0;
              result[1] = plain_matmul(plain_transpose(as_matrix(dy)), as_matrix(b.x[0]));
              if (bias) result[2] = summed_to(dy, b.x[2].shape());
              return result;
            }}}};
}

Case draw_side_by_side(Draw& draw) {
  const Index in = draw.some();
  Shape x_shape = draw.large() ? Shape{draw.between(20, 40), 40} : draw.shape(0, 2);
  x_shape.push_back(in);
  const auto count = static_cast<std::size_t>(draw.between(1, 3));
  // inputs: x, the weights, the biases (none, or one for each weight but perhaps the first).
  const bool biases = draw.chance(0.7), first_has_none = draw.chance(0.3);
  Arrays inputs{normal(x_shape, draw.rng)};
  std::vector<Index> outs;
  const bool equal = draw.chance(0.5);
  for (std::size_t i = 0; i < count; ++i) {
    outs.push_back(equal && i > 0 ? outs[0] : draw.size());
    inputs.push_back(normal({outs[i], in}, draw.rng));
  }
  for (std::size_t i = 0; biases && i < count; ++i) {
    if (i > 0 || !first_has_none) inputs.push_back(normal({outs[i]}, draw.rng));
  }
  const std::size_t first_bias = first_has_none ? 1 : 0;
  const auto call = [=](const Tensors& x, auto operation) {
    const Tensors weights(x.begin() + 1, x.begin() + 1 + Index(count));
    Tensors bias_list;
    if (biases) {
      bias_list.resize(first_bias);
      bias_list.insert(bias_list.end(), x.begin() + 1 + Index(count), x.end());
    }
    return operation(x[0], weights, bias_list);
  };
  return {inputs,
          [=](const Tensors& x) { return call(x, linear_side_by_side); },
          [=](const Arrays& x) {
            Arrays parts;
            Index width = 0;
            for (std::size_t i = 0; i < count; ++i) {
              const bool has = biases && i >= first_bias;
              parts.push_back(as_matrix(
                  plain_linear(x[0], x[1 + i], has ? &x[1 + count + i - first_bias] : nullptr)));
              width += outs[i];
            }
            Array y(x[0].shape().with(-1, width));
            Index begin = 0;
            for (const Array& part : parts) {
              for (Index e = 0; e < part.size(); ++e) {
                y[e / part.dim(1) * width + begin + e % part.dim(1)] = part[e];
              }
              begin += part.dim(1);
            }
            return y;
          },
          [=](const Tensors& x) { return call(x, composed::linear_side_by_side); },
          {{"x gets the gradient of the last map only",
            [=](const BackwardView& b) {
              Arrays result = b.right;
              const Array dy = as_matrix(b.dy);
              const Index begin = dy.dim(1) - outs.back();
              Array last({dy.dim(0), outs.back()});
              for (Index e = 0; e < last.size(); ++e) {
                last[e] = dy[e / outs.back() * dy.dim(1) + begin + e % outs.back()];
              }
              result[0] = plain_matmul(last, b.x[count]).reshaped(b.x[0].shape());
              return result;
            }},
           {"the first two weights' gradients are exchanged", [=](const BackwardView& b) {
              Arrays result = b.right;
              if (count > 1 && outs[0] == outs[1]) std::swap(result[1], result[2]);
              return result;
            }}}};
}

}  // namespace

std::vector<Row> matmul_rows() {
  return {{"matmul", "matmul", draw_matmul},
          {"linear", "linear", draw_linear},
          {"linear_side_by_side", "linear_side_by_side", draw_side_by_side}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
