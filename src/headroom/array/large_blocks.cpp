// Boundary tags: every block of a segment, free or in use, starts with a header that leads to the
// blocks beside it. The invariants are in large_blocks.hpp.
#include "array/large_blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "array/poison.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

/// Memory from the system: this header, blocks side by side, and an empty block that ends it.
struct alignas(64) Segment {
  Segment* next = nullptr;
  std::size_t capacity = 0;  // bytes for blocks, their headers included
  std::size_t touched = 0;   // how many of them, from the start, were ever in use
  Block* first() { return reinterpret_cast<Block*>(this + 1); }
};

namespace {

constexpr std::size_t header = sizeof(Block);
/// A smaller remainder stays with its block: no request would take it.
constexpr std::size_t smallest_remainder = 4096;
constexpr std::size_t first_segment = std::size_t{16} << 20, largest_step = std::size_t{1} << 30;

Block* after(Block* block) {
  return reinterpret_cast<Block*>(static_cast<std::byte*>(block->data()) + block->capacity);
}

/// Bytes from the start of its segment's first block to the end of this one.
std::size_t end_of(Block* block) {
  return static_cast<std::size_t>(reinterpret_cast<std::byte*>(after(block)) -
                                  reinterpret_cast<std::byte*>(block->segment->first()));
}

Block* make_block(void* place, Segment* segment, Block* before, std::size_t capacity) {
  allow_access(place, header);
  auto* const block = new (place) Block;
  block->segment = segment;
  block->before = before;
  block->capacity = capacity;
  return block;
}

void absorb(Block* left, Block* right) {
  left->capacity += header + right->capacity;
  after(left)->before = left;
  forbid_access(right, header);
}

}  // namespace

Block* LargeBlocks::take(std::size_t bytes, std::size_t& untouched) {
  const std::size_t wanted = bytes + red_zone;
  // The smallest that fits, but memory that was never in use comes last: using it makes the process
  // larger.
  const auto cost = [wanted](Block* block) {
    const std::size_t end = end_of(block) - block->capacity + wanted;
    return std::pair{end > block->segment->touched, block->capacity};
  };
  const auto best_that_fits = [&] {
    Block* best = nullptr;
    for (Block* block = free_; block != nullptr; block = block->next) {
      if (block->capacity < wanted) continue;
      if (best == nullptr || cost(block) < cost(best)) best = block;
    }
    return best;
  };
  Block* block = best_that_fits();
  if (block == nullptr) {
    add_segment(wanted);
    block = best_that_fits();
  }
  take_from_free(block);
  if (block->capacity >= wanted + header + smallest_remainder) {
    auto* const place = static_cast<std::byte*>(block->data()) + wanted;
    Block* const remainder =
        make_block(place, block->segment, block, block->capacity - wanted - header);
    after(remainder)->before = remainder;
    block->capacity = wanted;
    add_to_free(remainder);
  }
  Segment* const segment = block->segment;
  const std::size_t end = end_of(block);
  untouched = end > segment->touched ? end - segment->touched : 0;
  segment->touched += untouched;
  block->holders.store(1, std::memory_order_relaxed);
  block->version = 0;
  allow_access(block->data(), bytes);
  return block;
}

void LargeBlocks::give_back(Block* block) {
  forbid_access(block->data(), block->capacity);
  Block* const right = after(block);
  if (right->is_free) {
    take_from_free(right);
    absorb(block, right);
  }
  Block* const left = block->before;
  if (left != nullptr && left->is_free) {
    take_from_free(left);
    absorb(left, block);
    block = left;
  }
  add_to_free(block);
}

std::size_t LargeBlocks::trim() {
  std::size_t freed = 0;
  for (Segment** link = &segments_; *link != nullptr;) {
    Segment* const segment = *link;
    Block* const block = segment->first();
    if (!block->is_free || header + block->capacity < segment->capacity) {
      link = &segment->next;
      continue;
    }
    take_from_free(block);
    allow_access(block->data(), block->capacity);
    *link = segment->next;
    freed += segment->touched;
    reserved_ -= segment->capacity;
    std::free(segment);
  }
  return freed;
}

void LargeBlocks::add_segment(std::size_t bytes) {
  const auto reserve = [](std::size_t capacity) {
    return std::aligned_alloc(alignof(Block), sizeof(Segment) + capacity + header);
  };
  const std::size_t needed = header + bytes;
  std::size_t capacity = std::max(needed, std::clamp(reserved_, first_segment, largest_step));
  void* memory = reserve(capacity);
  if (memory == nullptr) memory = reserve(capacity = needed);
  if (memory == nullptr) throw std::bad_alloc();
  auto* const segment = new (memory) Segment;
  segment->capacity = capacity;
  segment->next = segments_;
  segments_ = segment;
  reserved_ += capacity;
  Block* const block = make_block(segment->first(), segment, nullptr, capacity - header);
  make_block(after(block), segment, block, 0);
  forbid_access(block->data(), block->capacity);
  add_to_free(block);
}

void LargeBlocks::add_to_free(Block* block) {
  block->is_free = true;
  block->previous = nullptr;
  block->next = free_;
  if (free_ != nullptr) free_->previous = block;
  free_ = block;
}

void LargeBlocks::take_from_free(Block* block) {
  block->is_free = false;
  (block->previous != nullptr ? block->previous->next : free_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

}  // namespace detail
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
