// Layer norm row by row, rows in parallel.
#include "kernels/layer_norm.hpp"

#include <cmath>

#include "kernels/fetch_ahead.hpp"
#include "kernels/norm_rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

void layer_norm(const Real* x, const Real* weight, const Real* bias, Real epsilon, Index rows,
                Index columns, Real* y, Real* mean, Real* rstd) {
  if (columns == 0) return;
  const Real count = Real(columns);
  parallel_for(rows, grain_for(columns), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Real* const in = x + r * columns;
      Real* const out = y + r * columns;
      fetch_ahead(in, columns);
      fetch_ahead<Fetch::to_write>(out, columns);
      const Real m = row_sum(in, columns) / count;
      const Real s = 1 / std::sqrt(row_square_sum(in, columns, m) / count + epsilon);
      mean[r] = m;
      rstd[r] = s;
#pragma omp simd
      for (Index c = 0; c < columns; ++c) {
        const Real n = (in[c] - m) * s;
        out[c] = (weight != nullptr ? n * weight[c] : n) + (bias != nullptr ? bias[c] : Real(0));
      }
    }
  });
}

void layer_norm_backward(const Real* x, const Real* weight, const Real* mean, const Real* rstd,
                         const Real* dy, Index rows, Index columns, const NormGradients& into) {
  const Real count = Real(std::max<Index>(1, columns));
  const WeightOrOnes given(weight, columns);
  for_rows_summing(rows, columns, into, [&](Index r, Real* dweight, Real* dbias) {
    const Real* const in = x + r * columns;
    const Real* const d = dy + r * columns;
    fetch_ahead(in, columns);
    fetch_ahead(d, columns);
    const Real* const w = given.data();  // here, since the loops see only local variables as fixed
    const Real m = mean[r], s = rstd[r];
    if (dweight != nullptr && dbias != nullptr) {  // as always but in tests: one pass for both
#pragma omp simd
      for (Index c = 0; c < columns; ++c) {
        dweight[c] += d[c] * ((in[c] - m) * s);
        dbias[c] += d[c];
      }
    } else if (dweight != nullptr) {
#pragma omp simd
      for (Index c = 0; c < columns; ++c) dweight[c] += d[c] * ((in[c] - m) * s);
    } else if (dbias != nullptr) {
#pragma omp simd
      for (Index c = 0; c < columns; ++c) dbias[c] += d[c];
    }
    if (into.dx == nullptr) return;
    Real sum_g = 0, sum_gn = 0;
#pragma omp simd reduction(+ : sum_g, sum_gn)
    for (Index c = 0; c < columns; ++c) {
      const Real g = d[c] * w[c];
      sum_g += g;
      sum_gn += g * ((in[c] - m) * s);
    }
    const Real mean_g = sum_g / count, mean_gn = sum_gn / count;
    Real* const out = into.dx + r * columns;
    fetch_ahead<Fetch::to_write>(out, columns);
    const bool add = into.add_x;
#pragma omp simd
    for (Index c = 0; c < columns; ++c) {
      const Real g = d[c] * w[c];
      put(s * (g - mean_g - (in[c] - m) * s * mean_gn), add, out[c]);
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
