// e^x in SIMD, for exponents that are not positive: softmax and the normal distribution need no
// others.
#pragma once

#include <bit>
#include <cstdint>

#include <xsimd/xsimd.hpp>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

using Batch = xsimd::batch<Real>;

/// e^x for x <= 0 (and, since differences of equal numbers round, up to 80): 0 below -87.33, where
/// float's normal numbers end, NaN for NaN. In float it takes half as long as xsimd's, which tests
/// for every special case: x = n ln 2 + r with |r| <= ln 2 / 2, and e^x = 2^n e^r. The polynomial
/// for e^r has the least maximal relative error, 3e-9 (reweighted least squares, 1 + r held); with
/// rounding the result is within 2e-7 of e^x.
inline Batch exponential(const Batch& x) {
  if constexpr (is_double) {
    return xsimd::exp(x);
  } else {
    using Bits = xsimd::batch<std::int32_t>;
    constexpr Real log2_e = Real(1.44269504);
    // ln 2 in two parts: n times the first is exact.
    constexpr Real ln2_high = Real(0.693359375), ln2_low = Real(-2.12194440e-4);
    // Adding 1.5 * 2^23 rounds to a whole number, which is then in the lowest bits; with 127
    // more these are the exponent field of 2^n.
    const Batch shift(Real(12582912 + 127));
    const Batch shifted = xsimd::fma(x, Batch(log2_e), shift);
    const Batch n = shifted - shift;
    const Batch r = xsimd::fnma(n, Batch(ln2_low), xsimd::fnma(n, Batch(ln2_high), x));
    constexpr Real c[] = {Real(1),
                          Real(1),
                          Real(0.4999999344),
                          Real(0.1666652057),
                          Real(0.0416683887),
                          Real(0.0083687240),
                          Real(0.0013814584)};
    Batch sum(c[6]);
    for (int power = 5; power >= 0; --power) sum = xsimd::fma(sum, r, Batch(c[power]));
    const Batch power_of_two = std::bit_cast<Batch>(std::bit_cast<Bits>(shifted) << 23);
    return xsimd::select(x < Batch(Real(-87.33)), Batch(Real(0)), sum * power_of_two);
  }
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
