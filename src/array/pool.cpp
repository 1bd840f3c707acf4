// Blocks by size class, in intrusive lists: taking and returning one allocates nothing.
#include "headroom/array/pool.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace headroom::inline HEADROOM_PRECISION {

namespace {

// Four classes to each power of two: at most a quarter of a block is never used.
constexpr std::size_t smallest = 64;
constexpr std::size_t classes = 4 * 58;

struct SizeClass {
  std::size_t index, bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= smallest) return {0, smallest};
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t step = (bytes - (std::size_t{1} << power) + quarter - 1) / quarter;  // 1 ... 4
  return {4 * (power - 6) + step, (std::size_t{1} << power) + step * quarter};
}

struct Pool {
  std::mutex mutex;
  std::array<detail::Block*, classes> waiting{};
  PoolStatistics statistics;
};

// Never destroyed: arrays with static lifetime may outlive everything else.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

}  // namespace

namespace detail {

Block* take_block(std::size_t bytes) {
  const SizeClass wanted = size_class(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  PoolStatistics& count = p.statistics;
  count.live += wanted.bytes;
  if (count.live > count.peak) count.peak = count.live;
  Block*& list = p.waiting[wanted.index];
  if (list != nullptr) {
    ++count.from_pool;
    Block* block = list;
    list = block->next;
    block->holders.store(1, std::memory_order_relaxed);
    block->version = 0;
    return block;
  }
  // aligned_alloc wants a multiple of the alignment, which the smaller size classes are not.
  const std::size_t lines = (sizeof(Block) + wanted.bytes + alignof(Block) - 1) / alignof(Block);
  void* memory = std::aligned_alloc(alignof(Block), lines * alignof(Block));
  if (memory == nullptr) {
    count.live -= wanted.bytes;
    throw std::bad_alloc();
  }
  ++count.from_system;
  count.held += wanted.bytes;
  auto* block = new (memory) Block;
  block->capacity = wanted.bytes;
  return block;
}

void return_block(Block* block) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.statistics.live -= block->capacity;
  Block*& list = p.waiting[size_class(block->capacity).index];
  block->next = list;
  list = block;
}

}  // namespace detail

PoolStatistics pool_statistics() {
  const std::lock_guard lock(pool().mutex);
  return pool().statistics;
}

void reset_pool_peak() {
  const std::lock_guard lock(pool().mutex);
  pool().statistics.peak = pool().statistics.live;
}

void trim_pool() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (detail::Block*& list : p.waiting) {
    while (list != nullptr) {
      detail::Block* block = list;
      list = block->next;
      p.statistics.held -= block->capacity;
      block->~Block();
      std::free(block);
    }
  }
}

}  // namespace headroom::inline HEADROOM_PRECISION
