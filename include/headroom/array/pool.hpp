// The buffer pool behind every array: freed blocks are kept and handed out again, so that after its
// first steps a training run asks the system for nothing.
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
  std::size_t held = 0;         // bytes taken from the system, in use or waiting
  std::size_t from_system = 0;  // requests that took new memory from the system
  std::size_t from_pool = 0;    // requests served by memory that was freed before
};

PoolStatistics pool_statistics();
/// Makes the current use the new peak.
void reset_pool_peak();
/// Gives what waits back to the system; of large blocks, whole segments only.
void trim_pool();

namespace detail {

struct Segment;

/// The head of a pooled block; 64 bytes, the elements follow, aligned to 64 bytes.
struct alignas(64) Block {
  std::atomic<std::int32_t> holders{1};
  std::uint32_t version = 0;  // raised by every in-place change of a Tensor's value
  std::size_t bytes = 0;      // of payload, as the statistics count them
  Block* next = nullptr;      // while waiting in the pool
  // Large blocks only; see src/array/large_blocks.hpp.
  Segment* segment = nullptr;
  std::size_t capacity = 0;   // bytes up to the neighbour on the right
  Block* before = nullptr;    // the neighbour on the left
  Block* previous = nullptr;  // while waiting
  bool waiting = false;
  void* data() { return this + 1; }
};

Block* take_block(std::size_t bytes);
void return_block(Block* block);

}  // namespace detail

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
