// Large blocks of the pool: allocated best-fit from segments, adjacent free blocks are coalesced.
#pragma once

#include <cstddef>

#include "headroom/array/pool.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

/// Serves requests of any size from segments of the system's memory, so that the memory which
/// gradients leave at the end of a step holds activations in the next, whatever their sizes. Knuth,
/// The Art of Computer Programming, volume 1, section 2.5. Invariants:
///
///  1. The blocks of a segment fill it: each begins where the one in front of it ends. The last
///     is an empty block in use, so that every other one has a block behind it.
///  2. `before` and `capacity` lead to both adjacent blocks (boundary tags).
///  3. No two adjacent blocks are free: a returned one is coalesced with free blocks beside it.
///  4. The free list holds exactly the blocks with `is_free`, the latest to become free first.
///  5. A request takes the smallest free block that is large enough, of equal ones the first in the
///     list, but memory that was never in use only if nothing else fits; the remainder stays free.
///  6. A segment's first `touched` bytes were in use at some time; the system has given no pages to
///     the bytes behind. Segments grow geometrically: what was never used costs nothing.
class LargeBlocks {
 public:
  /// A block of at least `bytes`, a multiple of 64. Throws std::bad_alloc. `untouched` gets the
  /// number of its bytes that were never in use before.
  Block* take(std::size_t bytes, std::size_t& untouched);
  void give_back(Block* block);
  /// Returns segments without a block in use to the system, and the number of their bytes that were
  /// ever in use.
  std::size_t trim();

 private:
  void add_segment(std::size_t bytes);
  void add_to_free(Block* block);
  void take_from_free(Block* block);

  Block* free_ = nullptr;  // the list of free blocks
  Segment* segments_ = nullptr;
  std::size_t reserved_ = 0;
};

}  // namespace detail
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
