// A fused layer and the imitation task of the laboratory in plain loops, in double, for tests.
#pragma once

#include <algorithm>
#include <cmath>

#include "headroom/nn/fused_heads.hpp"
#include "lab/lab_support.hpp"

namespace lab_test {

using Numbers = std::vector<double>;

inline Numbers numbers_of(const Array& array) {
  Numbers result;
  for (const Real x : array.span()) result.push_back(double(x));
  return result;
}

/// y = sum_h A_h W_O^h + b_O for one example [T, C], and its parameters as vectors.
struct PlainLayer {
  Index width = 0, heads = 0;
  Numbers in_weight, in_bias, out_weight, out_bias;  // [3C, C], [3C], [C, C], [C]

  explicit PlainLayer(const FusedHeads& layer)
      : width(layer.config().width),
        heads(layer.config().heads),
        in_weight(numbers_of(layer.in_proj_weight.value())),
        in_bias(std::size_t(3 * width), 0),
        out_weight(numbers_of(layer.out_proj.weight.value())),
        out_bias(std::size_t(width), 0) {
    if (!layer.config().bias) return;
    in_bias = numbers_of(layer.in_proj_bias.value());
    out_bias = numbers_of(layer.out_proj.bias.value());
  }

  static double at(const Numbers& numbers, Index i) { return headroom::at(numbers, i); }

  /// Rows [begin, end) of the packed projection of each token.
  Matrix projected(const Matrix& x, Index begin, Index end) const {
    Matrix y;
    for (const auto& token : x) {
      y.emplace_back();
      for (Index row = begin; row < end; ++row) {
        double sum = at(in_bias, row);
        for (Index c = 0; c < width; ++c) sum += at(in_weight, row * width + c) * at(token, c);
        y.back().push_back(sum);
      }
    }
    return y;
  }

  /// Only the first `keys` tokens may be attended to; all by default, and none gives b_O.
  Matrix operator()(const Matrix& x, std::size_t keys = 1000) const {
    const Index d = width / heads;
    Matrix y(x.size(), out_bias);
    if (keys == 0) return y;
    const Matrix seen(x.begin(), x.begin() + Index(std::min(keys, x.size())));
    for (Index h = 0; h < heads; ++h) {
      const auto third = [&](const Matrix& tokens, Index i) {
        return projected(tokens, i * width + h * d, i * width + (h + 1) * d);
      };
      const Matrix a =
          plain_attention(third(x, 0), third(seen, 1), third(seen, 2), 1 / std::sqrt(double(d)));
      for (std::size_t t = 0; t < x.size(); ++t) {
        for (Index o = 0; o < width; ++o) {
          for (Index c = 0; c < d; ++c) {
            headroom::at(y[t], o) += at(out_weight, o * width + h * d + c) * at(a[t], c);
          }
        }
      }
    }
    return y;
  }
};

/// Example b of x [B, T, C].
inline Matrix example_of(const Array& x, Index b) {
  const Numbers all = numbers_of(x);
  Matrix result;
  for (Index t = 0; t < x.dim(1); ++t) {
    const auto first = all.begin() + (b * x.dim(1) + t) * x.dim(2);
    result.emplace_back(first, first + x.dim(2));
  }
  return result;
}

/// N(0, 1/fan_in) weights and N(0, 0.1^2) biases, drawn as the laboratory draws them.
inline void draw_parameters(FusedHeads& layer, Rng& rng) {
  const Real deviation = 1 / std::sqrt(Real(layer.config().width));
  layer.in_proj_weight.set_value(normal(layer.in_proj_weight.shape(), deviation, rng));
  if (layer.config().bias) {
    layer.in_proj_bias.set_value(normal(layer.in_proj_bias.shape(), Real(0.1), rng));
  }
  layer.out_proj.weight.set_value(normal(layer.out_proj.weight.shape(), deviation, rng));
  if (layer.config().bias) {
    layer.out_proj.bias.set_value(normal(layer.out_proj.bias.shape(), Real(0.1), rng));
  }
}

/// The laboratory's training task: a teacher, and each step's inputs with its outputs.
class PlainTask {
 public:
  PlainTask(Index width, Index heads, std::uint64_t seed, bool bias = true)
      : seed_(seed), teacher_(draw_teacher(width, heads, seed, bias)) {}

  /// Mean squared error of a layer on the inputs of a step.
  double loss(const PlainLayer& layer, Index step) const {
    constexpr Index batch = 4, tokens = 8;
    Rng rng(seed_, "imitation inputs", static_cast<std::uint64_t>(step));
    const Array x = normal({batch, tokens, layer.width}, 1, rng);
    double sum = 0;
    for (Index b = 0; b < batch; ++b) {
      const Matrix example = example_of(x, b);
      const Matrix y = layer(example), wanted = teacher_(example);
      for (std::size_t t = 0; t < y.size(); ++t) {
        for (std::size_t c = 0; c < y[t].size(); ++c) sum += std::pow(y[t][c] - wanted[t][c], 2);
      }
    }
    return sum / double(batch * tokens * layer.width);
  }

  /// dL/d(numbers) by central differences; `numbers` are a member of `layer`.
  Numbers gradient(PlainLayer& layer, Numbers& numbers, Index step) const {
    Numbers result;
    for (double& w : numbers) {
      const double before = w, small = 1e-5;
      w = before + small;
      const double up = loss(layer, step);
      w = before - small;
      const double down = loss(layer, step);
      w = before;
      result.push_back((up - down) / (2 * small));
    }
    return result;
  }

 private:
  static PlainLayer draw_teacher(Index width, Index heads, std::uint64_t seed, bool bias) {
    Rng rng(seed, "imitation teacher");
    FusedHeads teacher({.width = width, .heads = heads, .bias = bias}, rng);
    draw_parameters(teacher, rng);
    return PlainLayer(teacher);
  }

  std::uint64_t seed_;
  PlainLayer teacher_;
};

}  // namespace lab_test
