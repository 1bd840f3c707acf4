// RMS norm row by row, rows in parallel.
#include "kernels/rms_norm.hpp"

#include <cmath>

#include "kernels/norm_rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

void rms_norm(const Real* x, const Real* weight, Real epsilon, Index rows, Index columns, Real* y,
              Real* rrms) {
  if (columns == 0) return;
  const Real count = Real(columns);
  parallel_for(rows, grain_for(columns), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Real* const in = x + r * columns;
      Real* const out = y + r * columns;
      const Real s = 1 / std::sqrt(row_dot(in, in, columns) / count + epsilon);
      rrms[r] = s;
#pragma omp simd
      for (Index c = 0; c < columns; ++c) {
        out[c] = weight != nullptr ? in[c] * s * weight[c] : in[c] * s;
      }
    }
  });
}

void rms_norm_backward(const Real* x, const Real* weight, const Real* rrms, const Real* dy,
                       Index rows, Index columns, const NormGradients& into) {
  const Real count = Real(std::max<Index>(1, columns));
  const WeightOrOnes given(weight, columns);
  for_rows_summing(rows, columns, into, [&](Index r, Real* dweight, Real*) {
    const Real* const in = x + r * columns;
    const Real* const d = dy + r * columns;
    const Real* const w = given.data();  // here, since the loops see only local variables as fixed
    const Real s = rrms[r];
    if (dweight != nullptr) {
#pragma omp simd
      for (Index c = 0; c < columns; ++c) dweight[c] += d[c] * (in[c] * s);
    }
    if (into.dx == nullptr) return;
    Real sum_gn = 0;
#pragma omp simd reduction(+ : sum_gn)
    for (Index c = 0; c < columns; ++c) sum_gn += d[c] * w[c] * (in[c] * s);
    const Real mean_gn = sum_gn / count;
    Real* const out = into.dx + r * columns;
    const bool add = into.add_x;
#pragma omp simd
    for (Index c = 0; c < columns; ++c) {
      put(s * (d[c] * w[c] - in[c] * s * mean_gn), add, out[c]);
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
