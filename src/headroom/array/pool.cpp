// Small blocks by size class, in intrusive lists of free ones. Large blocks are cut to size; see
// large_blocks.hpp. The pool's invariants are in headroom/array/pool.hpp.
#include "headroom/array/pool.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

#include "array/large_blocks.hpp"
#include "array/poison.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Four classes per power of two: at most a quarter of a block is never used.
constexpr std::size_t smallest = 64, largest_small = 32768;
constexpr std::size_t classes = 4 * 9 + 1;

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
  std::array<detail::Block*, classes> free_blocks{};
  detail::LargeBlocks large;
  PoolStatistics statistics;
};

// Never destroyed: arrays with static lifetime may outlive everything else.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

/// `untouched` gets the number of bytes that are new from the system.
detail::Block* take_small(Pool& p, const SizeClass& wanted, std::size_t& untouched) {
  detail::Block*& list = p.free_blocks[wanted.index];
  if (list != nullptr) {
    detail::Block* const block = list;
    list = block->next;
    block->holders.store(1, std::memory_order_relaxed);
    block->version = 0;
    detail::allow_access(block->data(), block->bytes);
    return block;
  }
  // aligned_alloc wants a multiple of the alignment, which the smaller size classes are not.
  constexpr std::size_t line = alignof(detail::Block);
  const std::size_t lines = (sizeof(detail::Block) + wanted.bytes + line - 1) / line;
  void* const memory = std::aligned_alloc(line, lines * line);
  if (memory == nullptr) throw std::bad_alloc();
  untouched = wanted.bytes;
  return new (memory) detail::Block;
}

}  // namespace

namespace detail {

Block* take_block(std::size_t bytes) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  std::size_t untouched = 0;
  Block* block = nullptr;
  if (bytes <= largest_small) {
    const SizeClass wanted = size_class(bytes);
    block = take_small(p, wanted, untouched);
    block->bytes = wanted.bytes;
  } else {
    bytes = (bytes + alignof(Block) - 1) / alignof(Block) * alignof(Block);
    block = p.large.take(bytes, untouched);
    block->bytes = bytes;
  }
  PoolStatistics& count = p.statistics;
  count.live += block->bytes;
  if (count.live > count.peak) count.peak = count.live;
  count.held += untouched;
  ++(untouched > 0 ? count.from_system : count.from_pool);
  return block;
}

void return_block(Block* block) {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.statistics.live -= block->bytes;
  if (block->segment != nullptr) return p.large.give_back(block);
  detail::forbid_access(block->data(), block->bytes);
  Block*& list = p.free_blocks[size_class(block->bytes).index];
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
  for (detail::Block*& list : p.free_blocks) {
    while (list != nullptr) {
      detail::Block* block = list;
      list = block->next;
      p.statistics.held -= block->bytes;
      detail::allow_access(block->data(), block->bytes);
      block->~Block();
      std::free(block);
    }
  }
  p.statistics.held -= p.large.trim();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
