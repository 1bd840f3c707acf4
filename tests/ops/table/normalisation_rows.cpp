// Rows of softmax and its relatives, and of the norms: everything that works on rows.
#include "headroom/ops/normalisation.hpp"

#include <cmath>

#include "headroom/ops/composed.hpp"
#include "headroom/ops/softmax.hpp"
#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

/// Calls f(begin, n) for each row of the last axis.
template <class F>
void each_row(const Shape& shape, F f) {
  const Index n = shape[-1];
  for (Index begin = 0; begin < shape.size(); begin += n) f(begin, n);
}

/// A fault that computes row by row: f(dx, dy, x, y, n).
template <class F>
Fault row_fault(std::string name, F f) {
  return {std::move(name), [f](const BackwardView& b) {
            Arrays result = b.right;
            result[0] = Array(b.x[0].shape());
            each_row(b.x[0].shape(), [&](Index begin, Index n) {
              f(result[0].data() + begin, b.dy.data() + begin, b.x[0].data() + begin,
                b.y.data() + begin, n);
            });
            return result;
          }};
}

// ---------------------------------------------------------------- softmax

Array plain_softmax(const Array& x, const Bytes* allowed, bool logarithm) {
  Array y = zeros(x.shape());
  each_row(x.shape(), [&](Index begin, Index n) {
    const auto may = [&](Index i) {
      return allowed == nullptr ||
             (*allowed)[broadcast_index(allowed->shape(), x.shape(), begin + i)] != 0;
    };
    Long largest = -1e30L, sum = 0;
    for (Index i = 0; i < n; ++i) {
      if (may(i)) largest = std::max(largest, static_cast<Long>(x[begin + i]));
    }
    for (Index i = 0; i < n; ++i) {
      if (may(i)) sum += std::exp(static_cast<Long>(x[begin + i]) - largest);
    }
    for (Index i = 0; i < n; ++i) {
      if (!may(i)) continue;
      const Long log_y = static_cast<Long>(x[begin + i]) - largest - std::log(sum);
      y[begin + i] = Real(logarithm ? log_y : std::exp(log_y));
    }
  });
  return y;
}

Fault without_sum_term() {
  return row_fault("the sum term is missing",
                   [](Real* dx, const Real* dy, const Real*, const Real* y, Index n) {
                     for (Index i = 0; i < n; ++i) dx[i] = y[i] * dy[i];
                   });
}

Case draw_softmax(Draw& draw) {
  return {{normal(draw.shape(1), draw.rng)},
          [](const Tensors& x) { return softmax(x[0]); },
          [](const Arrays& x) { return plain_softmax(x[0], nullptr, false); },
          [](const Tensors& x) { return composed::softmax(x[0]); },
          {without_sum_term(),
           row_fault("the sum is not weighted by y",
                     [](Real* dx, const Real* dy, const Real*, const Real* y, Index n) {
                       Real sum = 0;
                       for (Index i = 0; i < n; ++i) sum += dy[i];
                       for (Index i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - sum);
                     }),
           {"zero, as a cotangent of ones would let it pass",
            [](const BackwardView& b) { return Arrays{zeros(b.x[0].shape())}; }}}};
}

Case draw_log_softmax(Draw& draw) {
  return {
      {normal(draw.shape(1), draw.rng)},
      [](const Tensors& x) { return log_softmax(x[0]); },
      [](const Arrays& x) { return plain_softmax(x[0], nullptr, true); },
      [](const Tensors& x) { return composed::log_softmax(x[0]); },
      {row_fault("the sum term is missing", [](Real* dx, const Real* dy, const Real*, const Real*,
                                               Index n) { std::copy_n(dy, n, dx); }),
       row_fault("y instead of e^y",
                 [](Real* dx, const Real* dy, const Real*, const Real* y, Index n) {
                   Real sum = 0;
                   for (Index i = 0; i < n; ++i) sum += dy[i];
                   for (Index i = 0; i < n; ++i) dx[i] = dy[i] - y[i] * sum;
                 })}};
}

Case draw_masked_softmax(Draw& draw) {
  const Shape shape = draw.shape(1);
  const Bytes allowed =
      random_bytes(draw.broadcasting_to(shape), draw.rng, draw.chance(0.2) ? Real(0) : Real(0.6));
  return {{normal(shape, draw.rng)},
          [allowed](const Tensors& x) { return masked_softmax(x[0], allowed); },
          [allowed](const Arrays& x) { return plain_softmax(x[0], &allowed, false); },
          [allowed](const Tensors& x) { return composed::masked_softmax(x[0], allowed); },
          {without_sum_term(),
           {"the mask is ignored", [](const BackwardView& b) {
              return gradients_of([](const Tensors& x) { return softmax(x[0]); }, {b.x[0]}, b.dy);
            }}}};
}

// ---------------------------------------------------------------- norms

/// Rows whose elements are far from each other, and without `centred` far from 0: the slope of a
/// norm is 1 / deviation.
Array spread_rows(const Shape& shape, Rng& rng, bool centred) {
  Array x = normal(shape, rng);
  each_row(shape, [&](Index begin, Index n) {
    const Real shift = centred ? rng.normal() : 0;
    for (Index i = 0; i < n; ++i) {
      x[begin + i] = shift + Real(0.2) * x[begin + i] +
                     (i % 2 == 0 ? Real(1.5) : Real(-1.5)) * (1 + rng.uniform());
    }
  });
  return x;
}

struct Normed {
  bool weight = false, bias = false;
  Tensor weight_of(const Tensors& x) const { return weight ? x[1] : Tensor(); }
  Tensor bias_of(const Tensors& x) const { return bias ? x[weight ? 2 : 1] : Tensor(); }
  Real weight_at(const Arrays& x, Index i) const { return weight ? x[1][i] : 1; }
  Real bias_at(const Arrays& x, Index i) const { return bias ? x[weight ? 2 : 1][i] : 0; }
};

struct Moments {
  Long mean = 0, deviation = 0;
};

/// The mean and deviation of a row, or for RMS norm 0 and the root mean square.
Moments moments(const Real* x, Index n, Long epsilon, bool centred) {
  Moments m;
  for (Index i = 0; i < n && centred; ++i) m.mean += static_cast<Long>(x[i]) / n;
  Long variance = 0;
  for (Index i = 0; i < n; ++i) {
    const Long c = static_cast<Long>(x[i]) - m.mean;
    variance += c * c / n;
  }
  m.deviation = std::sqrt(variance + epsilon);
  return m;
}

/// A fault in dx = (g - mean g - x^ mean(g x^)) / deviation, g = dy weight, without some terms.
Fault norm_fault(const char* name, Normed call, Long epsilon, bool centred, bool mean_term,
                 bool projection, bool scale) {
  return {name, [=](const BackwardView& b) {
            Arrays result = b.right;
            result[0] = Array(b.x[0].shape());
            each_row(b.x[0].shape(), [&](Index begin, Index n) {
              const Moments m = moments(b.x[0].data() + begin, n, epsilon, centred);
              const auto hat = [&](Index i) {
                return (static_cast<Long>(b.x[0][begin + i]) - m.mean) / m.deviation;
              };
              const auto g = [&](Index i) {
                return static_cast<Long>(b.dy[begin + i] * call.weight_at(b.x, i));
              };
              Long mean_g = 0, mean_g_hat = 0;
              for (Index i = 0; i < n; ++i) {
                if (mean_term) mean_g += g(i) / n;
                if (projection) mean_g_hat += g(i) * hat(i) / n;
              }
              for (Index i = 0; i < n; ++i) {
                result[0][begin + i] =
                    Real((g(i) - mean_g - hat(i) * mean_g_hat) / (scale ? m.deviation : 1));
              }
            });
            return result;
          }};
}

Array plain_norm(const Arrays& x, Normed call, Long epsilon, bool centred) {
  Array y(x[0].shape());
  each_row(y.shape(), [&](Index begin, Index n) {
    const Moments m = moments(x[0].data() + begin, n, epsilon, centred);
    for (Index i = 0; i < n; ++i) {
      const Long hat = (static_cast<Long>(x[0][begin + i]) - m.mean) / m.deviation;
      y[begin + i] = Real(hat * static_cast<Long>(call.weight_at(x, i)) +
                          static_cast<Long>(call.bias_at(x, i)));
    }
  });
  return y;
}

Case draw_norm(Draw& draw, bool centred) {
  const Shape shape = draw.shape(1);
  const Normed call{draw.chance(0.7), centred && draw.chance(0.7)};
  const Real epsilon = draw.chance(0.5) ? Real(1e-5) : Real(0.1);
  Arrays inputs{spread_rows(shape, draw.rng, centred)};
  if (call.weight) inputs.push_back(normal({shape[-1]}, draw.rng));
  if (call.bias) inputs.push_back(normal({shape[-1]}, draw.rng));
  const auto wide = static_cast<Long>(epsilon);
  Case result{inputs, nullptr, [=](const Arrays& x) { return plain_norm(x, call, wide, centred); }};
  if (centred) {
    result.operation = [=](const Tensors& x) {
      return layer_norm(x[0], call.weight_of(x), call.bias_of(x), epsilon);
    };
    result.composed = [=](const Tensors& x) {
      return composed::layer_norm(x[0], call.weight_of(x), call.bias_of(x), epsilon);
    };
    result.faults.push_back(
        norm_fault("the mean term is missing", call, wide, centred, false, true, true));
  } else {
    result.operation = [=](const Tensors& x) { return rms_norm(x[0], call.weight_of(x), epsilon); };
    result.composed = [=](const Tensors& x) {
      return composed::rms_norm(x[0], call.weight_of(x), epsilon);
    };
    result.faults.push_back(
        norm_fault("a mean is taken off, as in layer norm", call, wide, centred, true, true, true));
  }
  result.faults.push_back(norm_fault("the deviation is taken for a constant", call, wide, centred,
                                     centred, false, true));
  result.faults.push_back(
      norm_fault("the scale 1/deviation is missing", call, wide, centred, centred, true, false));
  return result;
}

}  // namespace

std::vector<Row> normalisation_rows() {
  return {{"softmax", "softmax", draw_softmax},
          {"log_softmax", "log_softmax", draw_log_softmax},
          {"masked_softmax", "masked_softmax", draw_masked_softmax},
          {"layer_norm", "layer_norm", [](Draw& draw) { return draw_norm(draw, true); }},
          {"rms_norm", "rms_norm", [](Draw& draw) { return draw_norm(draw, false); }}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
