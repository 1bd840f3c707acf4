// Loops over one row, shared by all kernels like softmax, in SIMD by xsimd.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <xsimd/xsimd.hpp>

#include "headroom/base/real.hpp"
#include "kernels/exponential.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

inline constexpr Index batch_size = Index(Batch::size);
inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

/// The first n < batch_size elements at x, the other lanes filled. Tails go through the same vector
/// code as whole batches, so an element's result does not depend on its position in the row.
inline Batch load_tail(const Real* x, Index n, Real fill) {
  alignas(64) Real lanes[Batch::size];
  for (Index i = 0; i < batch_size; ++i) lanes[i] = i < n ? x[i] : fill;
  return Batch::load_aligned(lanes);
}

inline void store_tail(const Batch& batch, Real* y, Index n) {
  alignas(64) Real lanes[Batch::size];
  batch.store_aligned(lanes);
  std::copy_n(lanes, n, y);
}

/// The lanes of a batch folded to one number, in halves.
template <class Fold>
Real fold_lanes(const Batch& batch, const Fold& fold) {
  alignas(64) Real lanes[Batch::size];
  batch.store_aligned(lanes);
  for (Index half = batch_size / 2; half > 0; half /= 2) {
    for (Index i = 0; i < half; ++i) lanes[i] = fold(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}
inline Real lanes_sum(const Batch& batch) {
  return fold_lanes(batch, [](Real a, Real b) { return a + b; });
}
inline Real lanes_max(const Batch& batch) {
  return fold_lanes(batch, [](Real a, Real b) { return a > b ? a : b; });
}

/// max_i x_i, -infinity over nothing. NaNs may be ignored.
inline Real row_max(const Real* x, Index n) {
  Batch largest(-infinity);
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    largest = xsimd::max(largest, Batch::load_unaligned(x + i));
  }
  if (i < n) largest = xsimd::max(largest, load_tail(x + i, n - i, -infinity));
  return lanes_max(largest);
}

/// y_i = e^(x_i - shift); returns their sum. x and y may be the same.
inline Real row_exp(const Real* x, Index n, Real shift, Real* y) {
  const Batch shifts(shift);
  Batch sum(Real(0));
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    const Batch e = exponential(Batch::load_unaligned(x + i) - shifts);
    e.store_unaligned(y + i);
    sum += e;
  }
  if (i < n) {
    const Batch e = exponential(load_tail(x + i, n - i, -infinity) - shifts);
    store_tail(e, y + i, n - i);
    sum += e;
  }
  return lanes_sum(sum);
}

/// sum_i e^(x_i - shift)
inline Real row_exp_sum(const Real* x, Index n, Real shift) {
  const Batch shifts(shift);
  Batch sum(Real(0));
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    sum += exponential(Batch::load_unaligned(x + i) - shifts);
  }
  if (i < n) sum += exponential(load_tail(x + i, n - i, -infinity) - shifts);
  return lanes_sum(sum);
}

/// y_i += factor e^(x_i - shift)
inline void row_add_exp(const Real* x, Index n, Real shift, Real factor, Real* y) {
  const Batch shifts(shift), factors(factor);
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    const Batch e = exponential(Batch::load_unaligned(x + i) - shifts);
    (Batch::load_unaligned(y + i) + factors * e).store_unaligned(y + i);
  }
  if (i < n) {
    const Batch e = exponential(load_tail(x + i, n - i, -infinity) - shifts);
    store_tail(load_tail(y + i, n - i, Real(0)) + factors * e, y + i, n - i);
  }
}

/// sum_i (x_i - base)
inline Real row_sum_above(const Real* x, Index n, Real base) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < n; ++i) sum += x[i] - base;
  return sum;
}

/// sum_i x_i
inline Real row_sum(const Real* x, Index n) { return row_sum_above(x, n, Real(0)); }

/// sum_i a_i b_i
inline Real row_dot(const Real* a, const Real* b, Index n) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// sum_i (x_i - centre)^2
inline Real row_square_sum(const Real* x, Index n, Real centre) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < n; ++i) sum += (x[i] - centre) * (x[i] - centre);
  return sum;
}

/// For gradients: with `add` a kernel adds to the existing sum, else it overwrites.
inline void put(Real value, bool add, Real& target) { target = add ? target + value : value; }

/// y_i = factor x_i. x and y may be the same.
inline void row_scale(const Real* x, Index n, Real factor, Real* y) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) y[i] = factor * x[i];
}

/// x_i = -infinity where allowed_i is 0: e^x_i is then exactly 0. True when something is allowed.
inline bool row_mask(Real* x, Index n, const std::uint8_t* allowed) {
  int any = 0;
#pragma omp simd reduction(| : any)
  for (Index i = 0; i < n; ++i) {
    x[i] = allowed[i] != 0 ? x[i] : -infinity;
    any |= allowed[i];
  }
  return any != 0;
}

/// y = softmax(x), by e^(x - max) so that nothing overflows; returns the log-sum-exp. n >= 1; x and
/// y may be the same.
inline Real row_softmax(const Real* x, Index n, Real* y) {
  const Real shift = row_max(x, n);
  const Real sum = row_exp(x, n, shift, y);
  row_scale(y, n, Real(1) / sum, y);
  return shift + std::log(sum);
}

/// weight x, and 0 where the weight is 0 though x may be NaN there. (Written as a condition in a
/// loop it would not become SIMD without AVX-512.)
inline Batch weighted(const Batch& weight, const Batch& x) {
  const Batch zero(Real(0));
  return xsimd::select(weight == zero, zero, weight * x);
}

/// sum_i y_i (d_i - base) over weights y. Where y_i is 0, d_i is not used and may be NaN.
inline Real row_mean_above(const Real* y, const Real* d, Index n, Real base) {
  const Batch bases(base);
  Batch sum(Real(0));
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    sum += weighted(Batch::load_unaligned(y + i), Batch::load_unaligned(d + i) - bases);
  }
  if (i < n) {
    sum += weighted(load_tail(y + i, n - i, Real(0)), load_tail(d + i, n - i, Real(0)) - bases);
  }
  return lanes_sum(sum);
}

/// y_i = e^(x_i - shift), and row_mean_above(y, d, n, base) in the same pass. n is a multiple of
/// batch_size; x and y may be the same.
inline Real row_exp_mean_above(const Real* x, const Real* d, Index n, Real shift, Real base,
                               Real* y) {
  const Batch shifts(shift), bases(base);
  Batch sum(Real(0));
  for (Index i = 0; i < n; i += batch_size) {
    const Batch e = exponential(Batch::load_unaligned(x + i) - shifts);
    e.store_unaligned(y + i);
    sum += weighted(e, Batch::load_unaligned(d + i) - bases);
  }
  return lanes_sum(sum);
}

/// dx_i (+)= y_i (dy_i - m): the gradient of a softmax y, where m = sum_i y_i dy_i is passed
/// as rough + rest, rest = sum_i y_i (dy_i - rough). Where one weight is nearly 1, m is nearly its
/// dy, and their difference would be mostly the rounding of m; dy - rough is small, and so is the
/// rounding of its mean. Where y_i is 0, dy_i is not used and may be NaN. dy and
/// dx may be the same.
inline void row_softmax_backward(const Real* y, const Real* dy, Index n, Real rough, Real rest,
                                 bool add, Real* dx) {
  const Batch roughs(rough), rests(rest);
  const auto slope = [&](const Batch& weight, const Batch& d) {
    return weighted(weight, (d - roughs) - rests);
  };
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) {
    const Batch d = slope(Batch::load_unaligned(y + i), Batch::load_unaligned(dy + i));
    (add ? Batch::load_unaligned(dx + i) + d : d).store_unaligned(dx + i);
  }
  if (i < n) {
    const Batch d = slope(load_tail(y + i, n - i, Real(0)), load_tail(dy + i, n - i, Real(0)));
    store_tail(add ? load_tail(dx + i, n - i, Real(0)) + d : d, dx + i, n - i);
  }
}

/// Log-sum-exp of a row of scores, entropy and maximum of its weights.
struct RowShape {
  Real log_sum_exp, entropy, maximum;
};

/// The shape of softmax(x), without its division and without a logarithm per element. With d_i =
/// x_i - max x and Z = sum_i e^d_i: log_sum_exp = max x + log Z, the same bits as row_softmax()
/// returns; entropy = log Z - sum_i d_i e^d_i / Z, a sum of two
/// numbers that are not negative, and maximum = 1 / Z. n >= 1, some x_i is finite; -infinity has
/// weight 0.
inline RowShape row_shape(const Real* x, Index n) {
  const Real shift = row_max(x, n);
  const Batch shifts(shift), lowest(Real(-1000));  // e^-1000 is 0, and 0 times it too
  Batch total(Real(0)), moment(Real(0));
  const auto add = [&](const Batch& scores) {
    const Batch d = xsimd::max(scores - shifts, lowest);
    const Batch e = exponential(d);
    total += e;
    moment += d * e;
  };
  Index i = 0;
  for (; i + batch_size <= n; i += batch_size) add(Batch::load_unaligned(x + i));
  if (i < n) add(load_tail(x + i, n - i, -infinity));
  const Real sum = lanes_sum(total);
  const Real log_sum = std::log(sum);
  return {shift + log_sum, log_sum - lanes_sum(moment) / sum, 1 / sum};
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
