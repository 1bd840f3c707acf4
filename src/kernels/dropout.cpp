// Dropout chunk by chunk, the mask drawn again whenever it is needed.
#include "kernels/dropout.hpp"

#include <algorithm>
#include <array>

#include "headroom/base/parallel.hpp"
#include "kernels/simd.hpp"

namespace headroom::inline HEADROOM_PRECISION {
namespace kernels {

void dropout(const Real* x, Index n, Real p, const MaskStream& stream, bool add, Real* y) {
  constexpr Index piece = 512;  // random numbers at hand at one time, on the stack
  const Real scale = dropout_scale(p);
  parallel_for(n, 8 * piece, [&](Index begin, Index end) {
    std::array<float, piece> uniform;
    for (Index at = begin; at < end; at += piece) {
      const Index count = std::min(piece, end - at);
      stream.fill(at, count, uniform.data());
#pragma omp simd
      for (Index i = 0; i < count; ++i) {
        const bool keep = static_cast<Real>(uniform[static_cast<std::size_t>(i)]) >= p;
        put(keep ? x[at + i] * scale : Real(0), add, y[at + i]);
      }
    }
  });
}

}  // namespace kernels
}  // namespace headroom::inline HEADROOM_PRECISION
