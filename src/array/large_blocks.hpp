// Large blocks of the pool: best fit in big segments, neighbours that wait become one.
#pragma once

#include <cstddef>

#include "headroom/array/pool.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

/// Serves requests of any size from segments of the system's memory, so that the memory which
/// gradients leave at the end of a step holds activations in the next, whatever their sizes. A
/// request takes the smallest waiting piece that is large enough, of equal ones the latest to be
/// freed, and leaves the rest of it waiting; a freed block melts together with waiting neighbours.
/// Segments grow geometrically. The system gives their pages at the first touch, so what was never
/// used costs nothing. Knuth, The Art of Computer Programming, volume 1, section 2.5.
class LargeBlocks {
 public:
  /// A block of at least `bytes`, a multiple of 64. Throws std::bad_alloc. `untouched` gets the
  /// number of bytes that no block held before.
  Block* take(std::size_t bytes, std::size_t& untouched);
  void give_back(Block* block);
  /// Gives segments without any block in use back to the system; returns how many bytes of them
  /// had ever been held.
  std::size_t trim();

 private:
  void add_segment(std::size_t bytes);
  void wait(Block* block);
  void stop_waiting(Block* block);

  Block* waiting_ = nullptr;
  Segment* segments_ = nullptr;
  std::size_t reserved_ = 0;
};

}  // namespace detail
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
