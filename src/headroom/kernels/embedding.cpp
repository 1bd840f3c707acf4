// Table look-up: rows are copied in parallel; their gradients are summed in parallel over columns,
// so that equal ids are never summed on two threads.
#include "kernels/embedding.hpp"

#include <algorithm>

#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

void embedding(const Real* table, const std::int32_t* ids, Index count, Index columns, Real* y) {
  parallel_for(count, grain_for(columns), [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      std::copy_n(table + ids[n] * columns, columns, y + n * columns);
    }
  });
}

void embedding_backward(const Real* dy, const std::int32_t* ids, Index count, Index columns,
                        Real* dtable) {
  // A block is at least a cache line wide: two threads on one line would slow each other down.
  const Index block = std::max<Index>(64 / Index{sizeof(Real)}, grain_for(count));
  parallel_for(columns, block, [&](Index begin, Index end) {
    for (Index n = 0; n < count; ++n) {
      const Real* const from = dy + n * columns;
      Real* const to = dtable + ids[n] * columns;
#pragma omp simd
      for (Index c = begin; c < end; ++c) to[c] += from[c];
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
