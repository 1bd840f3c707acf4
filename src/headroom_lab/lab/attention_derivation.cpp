// The gradients of attention derived by hand, line by line, and those of the tape.
#include "lab/attention_derivation.hpp"

#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// [B, T, H * D] -> [B, H, T, D] and back.
Array split_heads(const Array& x, Index heads) {
  return transposed(x.reshaped({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), 1, 2);
}

Array merge_heads(const Array& x) {
  return transposed(x, 1, 2).reshaped({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Array scaled(const Array& x, Real factor) {
  const NoGrad quiet;
  return (Tensor(x) * factor).value();
}

/// x^T d over batch and time: [B, T, C] and [B, H, T, D] -> [C, C].
Array weight_gradient(const Array& x, const Array& d_heads) {
  const Array d = merge_heads(d_heads);
  const Index rows = x.dim(0) * x.dim(1), width = x.dim(2);
  return matmul(transposed(x.reshaped({rows, width})), d.reshaped({rows, width}));
}

}  // namespace

AttentionInputs uniform_inputs(Index batch, Index tokens, Index width, Rng& rng) {
  AttentionInputs inputs;
  for (Array* weight : {&inputs.query, &inputs.key, &inputs.value}) {
    *weight = uniform_array({width, width}, rng);
  }
  inputs.x = uniform_array({batch, tokens, width}, rng);
  inputs.cotangent = normal({batch, tokens, width}, 1, rng);
  return inputs;
}

AttentionInputs zero_mean_inputs(Index batch, Index tokens, Index width, Rng& rng) {
  AttentionInputs inputs;
  const Real deviation = 1 / std::sqrt(Real(width));
  for (Array* weight : {&inputs.query, &inputs.key, &inputs.value}) {
    *weight = normal({width, width}, deviation, rng);
  }
  inputs.x = normal({batch, tokens, width}, 1, rng);
  inputs.cotangent = normal({batch, tokens, width}, 1, rng);
  return inputs;
}

Array softmax_backward(const Array& weights, const Array& d_weights) {
  const NoGrad quiet;
  const Tensor p(weights), dp(d_weights);
  return (p * (dp - sum(p * dp, {-1}, true))).value();
}

AttentionDerivation derive(const AttentionInputs& inputs, Index heads) {
  const NoGrad quiet;
  const Real scale = 1 / std::sqrt(Real(inputs.x.dim(2) / heads));
  AttentionDerivation a;
  a.query = split_heads(matmul(inputs.x, inputs.query), heads);
  a.key = split_heads(matmul(inputs.x, inputs.key), heads);
  a.value = split_heads(matmul(inputs.x, inputs.value), heads);
  a.scores = scaled(matmul(a.query, transposed(a.key)), scale);
  a.weights = softmax(Tensor(a.scores)).value();
  a.y = merge_heads(matmul(a.weights, a.value));

  const Array d_out = split_heads(inputs.cotangent, heads);
  a.d_value = matmul(transposed(a.weights), d_out);
  a.d_weights = matmul(d_out, transposed(a.value));
  a.d_scores = softmax_backward(a.weights, a.d_weights);
  a.d_query = scaled(matmul(a.d_scores, a.key), scale);
  a.d_key = scaled(matmul(transposed(a.d_scores), a.query), scale);
  a.d_wq = weight_gradient(inputs.x, a.d_query);
  a.d_wk = weight_gradient(inputs.x, a.d_key);
  a.d_wv = weight_gradient(inputs.x, a.d_value);
  a.d_x = (Tensor(matmul(merge_heads(a.d_query), transposed(inputs.query))) +
           Tensor(matmul(merge_heads(a.d_key), transposed(inputs.key))) +
           Tensor(matmul(merge_heads(a.d_value), transposed(inputs.value))))
              .value();
  return a;
}

AttentionForward attended(const AttentionInputs& inputs, Index heads) {
  const NoGrad quiet;
  const Tensor x(inputs.x);
  const Index d = inputs.x.dim(2) / heads;
  const auto projected = [&](const Array& weight) {
    return HeadColumns{matmul(x, Tensor(weight)), 0};
  };
  const composed::Attention seen = composed::attention(
      projected(inputs.query), projected(inputs.key), projected(inputs.value), heads, d, d, {});
  return {seen.y.value(), seen.maps.value()};
}

TapedAttention taped(const AttentionInputs& inputs, Index heads) {
  const Tensor x = parameter(inputs.x.clone());
  const Tensor wq = parameter(inputs.query.clone()), wk = parameter(inputs.key.clone());
  const Tensor wv = parameter(inputs.value.clone());
  const Index d = inputs.x.dim(2) / heads;
  const composed::Attention seen = composed::attention({matmul(x, wq), 0}, {matmul(x, wk), 0},
                                                       {matmul(x, wv), 0}, heads, d, d, {});
  seen.y.backward(inputs.cotangent);
  return {seen.y.value(), seen.maps.value(), wq.grad(), wk.grad(), wv.grad(), x.grad()};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
