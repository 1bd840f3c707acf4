// Runs each kernel once, on the sizes of a small model, under callgrind, for the guard of
// instruction counts. Instructions are counted in functions named measured_NAME.
#include <cstdio>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "kernels/adam.hpp"
#include "kernels/attention.hpp"
#include "kernels/cross_entropy.hpp"
#include "kernels/dropout.hpp"
#include "kernels/few_rows.hpp"
#include "kernels/gelu.hpp"
#include "kernels/layer_norm.hpp"
#include "kernels/permute.hpp"
#include "kernels/reduce.hpp"
#include "kernels/rms_norm.hpp"
#include "kernels/softmax.hpp"

using namespace headroom;

namespace {

constexpr Index batch = 1, heads = 2, length = 1024, head_dim = 32, rows = 128, columns = 256;

Array random(const Shape& shape) {
  static Rng rng(1);
  Array array(shape);
  for (Real& value : array.span()) value = rng.normal();
  return array;
}

const Array x = random({rows, columns}), dy = random({rows, columns});
const Array weight = random({columns}), bias = random({columns});
Array y(x.shape()), dx(x.shape()), mean(Shape{rows}), rstd(Shape{rows}), dweight(weight.shape()),
    dbias(bias.shape());
const Ids labels(Shape{rows}, 7);

kernels::AttentionPlan plan(bool causal) {
  Ids limits(Shape{batch, length}, static_cast<std::int32_t>(length));
  for (Index i = 0; causal && i < limits.size(); ++i) {
    limits[i] = static_cast<std::int32_t>(i % length + 1);
  }
  return {.batch = batch,
          .heads = heads,
          .queries = length,
          .keys = length,
          .head_dim = head_dim,
          .value_dim = head_dim,
          .scale = Real(0.2),
          .limits = limits,
          .limits_differ = causal,
          .allowed = {},
          .allowed_at = {},
          .dropout = 0,
          .streams = {}};
}
constexpr Index width = heads * head_dim;
const Array packed = random({batch, length, 3 * width}), dhead = random({batch, length, width});
Array head_y({batch, length, width}), log_sum_exp({batch, heads, length}), dpacked(packed.shape());
const kernels::HeadRows query{packed.data(), 3 * width}, key{packed.data() + width, 3 * width},
    value{packed.data() + 2 * width, 3 * width};

}  // namespace

#define MEASURED extern "C" __attribute__((noinline)) void

MEASURED measured_gelu() { kernels::gelu(x.data(), x.size(), y.data()); }
MEASURED measured_gelu_backward() {
  kernels::gelu_backward(x.data(), dy.data(), x.size(), false, dx.data());
}
MEASURED measured_softmax() { kernels::softmax(x.data(), rows, columns, y.data()); }
MEASURED measured_softmax_backward() {
  kernels::softmax_backward(y.data(), dy.data(), rows, columns, false, dx.data());
}
MEASURED measured_layer_norm() {
  kernels::layer_norm(x.data(), weight.data(), bias.data(), Real(1e-5), rows, columns, y.data(),
                      mean.data(), rstd.data());
}
MEASURED measured_layer_norm_backward() {
  kernels::layer_norm_backward(x.data(), weight.data(), mean.data(), rstd.data(), dy.data(), rows,
                               columns,
                               {.dx = dx.data(), .dweight = dweight.data(), .dbias = dbias.data()});
}
MEASURED measured_rms_norm() {
  kernels::rms_norm(x.data(), weight.data(), Real(1e-5), rows, columns, y.data(), rstd.data());
}
MEASURED measured_rms_norm_backward() {
  kernels::rms_norm_backward(x.data(), weight.data(), rstd.data(), dy.data(), rows, columns,
                             {.dx = dx.data(), .dweight = dweight.data()});
}
MEASURED measured_column_sums() { column_sums(x); }
MEASURED measured_adam() {
  static const AdamStep step = adam_step(1e-3, 0.9, 0.999, 1e-8, 0.01, true, 1);
  adam(step, x.size(), y.data(), dy.data(), dx.data(), dpacked.data());
}
MEASURED measured_few_rows() {
  kernels::few_rows(8, rows, columns, Real(1), {x.data(), columns}, transposed(dy.data(), columns),
                    {}, y.data(), rows);
}
MEASURED measured_full_attention() {
  kernels::attention(plan(false), query, key, value, head_y.data(), log_sum_exp.data());
}
MEASURED measured_attention() {
  kernels::attention(plan(true), query, key, value, head_y.data(), log_sum_exp.data());
}
MEASURED measured_attention_backward() {
  kernels::attention_backward(plan(true), query, key, value, head_y.data(), log_sum_exp.data(),
                              dhead.data(), {dpacked.data(), 3 * width, false},
                              {dpacked.data() + width, 3 * width, false},
                              {dpacked.data() + 2 * width, 3 * width, false});
}

int main() {
  set_num_threads(1);
  measured_gelu();
  measured_gelu_backward();
  measured_softmax();
  measured_softmax_backward();
  measured_layer_norm();
  measured_layer_norm_backward();
  measured_rms_norm();
  measured_rms_norm_backward();
  measured_column_sums();
  for (Real& v : dpacked.span()) v = 1;  // a second moment is not negative
  measured_adam();
  measured_few_rows();
  measured_full_attention();
  measured_attention();
  measured_attention_backward();
  std::puts("done");
}
