// The buffer pool behind every array: freed blocks are kept and reused, so that after its first
// steps a training run requests no memory from the system.
//
// Invariants (the pool's mutex is held wherever it changes; "free" means kept for reuse):
//
//  1. A block belongs to the arrays that hold it, or it is free. `holders` counts the former; the
//     holder that lowers it to 0 calls return_block(), and no other code does.
//  2. Elements start 64 bytes behind the start of their block, aligned to 64 bytes.
//  3. A block from take_block() has one holder and version 0. Its elements are uninitialised.
//  4. Requests of at most 32768 bytes are rounded up to a size class (64 bytes, then four classes
//     per power of two), and a free block is reused only for its own class. Larger requests are
//     rounded up to a multiple of 64 bytes and cut from segments
//     (src/headroom/array/large_blocks.hpp).
//  5. Taking and returning a block allocates nothing beyond its own memory: free blocks are linked
//     through their headers.
//  6. Only trim_pool() returns memory to the system: `held` never falls otherwise.
//  7. Under AddressSanitizer the elements of free blocks are poisoned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Counters of the pool, in bytes of payload and in numbers of requests.
struct PoolStatistics {
  std::size_t live = 0;         // bytes held by arrays now
  std::size_t peak = 0;         // largest value of `live` since the last reset_pool_peak()
  std::size_t held = 0;         // bytes taken from the system, in use or free
  std::size_t from_system = 0;  // requests that took new memory from the system
  std::size_t from_pool = 0;    // requests served by memory that was used before
};

/// The numbers of the pool of this process so far.
PoolStatistics pool_statistics();
/// Sets the peak to the bytes that are live now.
void reset_pool_peak();
/// Returns free memory to the system; of large blocks, whole segments only.
void trim_pool();

namespace detail {

struct Segment;

/// The header of a pooled block, 64 bytes; the elements follow, aligned to 64 bytes.
struct alignas(64) Block {
  std::atomic<std::int32_t> holders{1};
  std::uint32_t version = 0;  // raised by every in-place change of a Tensor's value
  std::size_t bytes = 0;      // of payload, as the statistics count them
  Block* next = nullptr;      // in its list of free blocks
  // Large blocks only; see src/headroom/array/large_blocks.hpp.
  Segment* segment = nullptr;
  std::size_t capacity = 0;   // bytes up to the next block of the segment
  Block* before = nullptr;    // the block in front of it in the segment
  Block* previous = nullptr;  // in the list of free blocks
  bool is_free = false;
  void* data() { return this + 1; }
};

Block* take_block(std::size_t bytes);
void return_block(Block* block);

}  // namespace detail

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
