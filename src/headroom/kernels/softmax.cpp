// Softmax row by row, rows in parallel.
#include "kernels/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/parallel.hpp"
#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {

/// Calls row(begin of the row) for every row, many rows to a chunk.
template <class Row>
void for_rows(Index rows, Index columns, const Row& row) {
  parallel_for(rows, grain_for(columns), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) row(r * columns);
  });
}

}  // namespace

void softmax(const Real* x, Index rows, Index columns, Real* y) {
  if (columns == 0) return;
  for_rows(rows, columns, [=](Index at) { row_softmax(x + at, columns, y + at); });
}

void softmax_backward(const Real* y, const Real* dy, Index rows, Index columns, bool add,
                      Real* dx) {
  for_rows(rows, columns, [=](Index at) {
    const Real rough = row_mean_above(y + at, dy + at, columns, Real(0));
    const Real rest = row_mean_above(y + at, dy + at, columns, rough);
    row_softmax_backward(y + at, dy + at, columns, rough, rest, add, dx + at);
  });
}

void masked_softmax(const Real* x, const std::uint8_t* allowed, Index rows, Index columns,
                    Real* y) {
  for_rows(rows, columns, [=](Index at) {
    std::copy_n(x + at, columns, y + at);
    if (row_mask(y + at, columns, allowed + at)) {
      row_softmax(y + at, columns, y + at);
    } else {
      std::fill_n(y + at, columns, Real(0));
    }
  });
}

void log_softmax(const Real* x, Index rows, Index columns, Real* y) {
  for_rows(rows, columns, [=](Index at) {
    const Real shift = row_max(x + at, columns);
    const Real log_sum = std::log(row_exp_sum(x + at, columns, shift));
    for (Index c = at; c < at + columns; ++c) y[c] = (x[c] - shift) - log_sum;
  });
}

void log_softmax_backward(const Real* y, const Real* dy, Index rows, Index columns, bool add,
                          Real* dx) {
  for_rows(rows, columns, [=](Index at) {
    const Real total = row_sum(dy + at, columns);
#pragma omp simd
    for (Index c = at; c < at + columns; ++c) put(dy[c], add, dx[c]);
    row_add_exp(y + at, columns, Real(0), -total, dx + at);
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
