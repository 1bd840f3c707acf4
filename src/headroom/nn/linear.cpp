// Linear.
#include "headroom/nn/linear.hpp"

#include <fmt/format.h>

#include "headroom/nn/init.hpp"
#include "headroom/ops/matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Linear::Linear(Index in, Index out, Rng& rng, bool with_bias)
    : Linear(xavier_uniform({out, in}, in, out, rng), with_bias ? zeros({out}) : Array()) {}

Linear::Linear(Array weight_value, Array bias_value) : weight(parameter(std::move(weight_value))) {
  if (bias_value.defined()) bias = parameter(std::move(bias_value));
}

Tensor Linear::operator()(const Tensor& x) const { return linear(x, weight, bias); }

void Linear::members(Members& visit) {
  visit("weight", weight);
  visit("bias", bias);
}

std::string Linear::title() const {
  return fmt::format("Linear({} -> {}{})", weight.dim(1), weight.dim(0),
                     bias.defined() ? "" : ", no bias");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
