// Rows of a table by number, and the sum of their gradients.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// y_n = table_id(n), rows of `columns` elements.
void embedding(const Real* table, const std::int32_t* ids, Index count, Index columns, Real* y);

/// dtable_id(n) += dy_n, for n in ascending order, whatever the number of threads.
void embedding_backward(const Real* dy, const std::int32_t* ids, Index count, Index columns,
                        Real* dtable);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
