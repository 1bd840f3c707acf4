// Dropout chunk by chunk, the mask drawn again whenever it is needed.
#include "kernels/dropout.hpp"

#include <algorithm>
#include <array>

#include "headroom/base/parallel.hpp"
#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {
constexpr Index piece = 512;  // random numbers that are drawn together, on the stack
}

void dropout_factors(const MaskStream& stream, Index first, Index n, Real p, Real* factors) {
  const Real scale = dropout_scale(p);
  std::array<float, piece> uniform;
  for (Index at = 0; at < n; at += piece) {
    const Index count = std::min(piece, n - at);
    stream.fill(first + at, count, uniform.data());
#pragma omp simd
    for (Index i = 0; i < count; ++i) {
      const bool keep = Real(uniform[static_cast<std::size_t>(i)]) >= p;
      factors[at + i] = keep ? scale : Real(0);
    }
  }
}

void dropout(const Real* x, Index n, Real p, const MaskStream& stream, bool add, Real* y) {
  parallel_for(n, 8 * piece, [&](Index begin, Index end) {
    std::array<Real, piece> factors;
    for (Index at = begin; at < end; at += piece) {
      const Index count = std::min(piece, end - at);
      dropout_factors(stream, at, count, p, factors.data());
#pragma omp simd
      for (Index i = 0; i < count; ++i) {
        const Real factor = factors[static_cast<std::size_t>(i)];
        put(factor != 0 ? x[at + i] * factor : Real(0), add, y[at + i]);
      }
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
