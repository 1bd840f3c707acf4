// Sums over a part of two arrays, in double.
#include "headroom/algebra/part_sums.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The sum of term(a_i, b_i).
template <class Term>
double part_sum(const AxisRange& part, const Array& a, const Array& b, const Term& term) {
  double total = 0;
  for_each_run(a.shape(), part, [&](Index first, Index count) {
    const Real *const x = a.data() + first, *const y = b.data() + first;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < count; ++i) {
      sum += term(double(x[i]), double(y[i]));
    }
    total += sum;
  });
  return total;
}

}  // namespace

double part_dot(const AxisRange& part, const Array& a, const Array& b) {
  return part_sum(part, a, b, [](double x, double y) { return x * y; });
}

double part_squared_distance(const AxisRange& part, const Array& a, const Array& b) {
  return part_sum(part, a, b, [](double x, double y) { return (x - y) * (x - y); });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
