// Prefetching: requests memory before it is needed.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// How many bytes ahead of a loop its memory is prefetched: a page, so that the address of the next
/// page is looked up in time too. The processor's own prefetcher stops at the end of a page, and a
/// loop with much arithmetic per element leaves it little room: without this GELU takes 1.5 times
/// as long on arrays that do not fit into the cache.
inline constexpr std::uintptr_t fetch_distance = 4096;

enum class Fetch { to_read = 0, to_write = 1 };

/// Prefetches the cache line of element x[ahead]. Nothing is accessed, so it may be beyond the end
/// of the array.
template <Fetch purpose = Fetch::to_read>
void fetch_line(const Real* x, Index ahead) {
  const auto bytes = static_cast<std::uintptr_t>(ahead) * sizeof(Real);
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(x) + bytes),
                     int(purpose));
}

/// Prefetches the memory `fetch_distance` behind the n elements at x.
template <Fetch purpose = Fetch::to_read>
void fetch_ahead(const Real* x, Index n) {
  constexpr auto distance = Index(fetch_distance / sizeof(Real)),
                 cache_line = Index(64 / sizeof(Real));
  for (Index i = 0; i < n; i += cache_line) fetch_line<purpose>(x, distance + i);
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
