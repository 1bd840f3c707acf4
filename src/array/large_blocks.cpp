// Boundary tags: every piece of a segment starts with a Block that knows its neighbours.
#include "array/large_blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "array/poison.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

/// Memory from the system: this header, pieces side by side, and an empty piece that ends it.
struct alignas(64) Segment {
  Segment* next = nullptr;
  std::size_t capacity = 0;  // bytes for pieces, their headers included
  std::size_t touched = 0;   // of them, how many ever belonged to a block in use
  Block* first() { return reinterpret_cast<Block*>(this + 1); }
};

namespace {

constexpr std::size_t header = sizeof(Block);
/// Rests smaller than this stay with their block: nobody would ask for them.
constexpr std::size_t smallest_rest = 4096;
constexpr std::size_t first_segment = std::size_t{16} << 20, largest_step = std::size_t{1} << 30;

Block* after(Block* block) {
  return reinterpret_cast<Block*>(static_cast<std::byte*>(block->data()) + block->capacity);
}

/// How far into its segment a piece reaches.
std::size_t end_of(Block* piece) {
  return static_cast<std::size_t>(reinterpret_cast<std::byte*>(after(piece)) -
                                  reinterpret_cast<std::byte*>(piece->segment->first()));
}

Block* make_piece(void* place, Segment* segment, Block* before, std::size_t capacity) {
  allow_access(place, header);
  auto* const piece = new (place) Block;
  piece->segment = segment;
  piece->before = before;
  piece->capacity = capacity;
  return piece;
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
  const auto cost = [wanted](Block* piece) {
    const std::size_t end = end_of(piece) - piece->capacity + wanted;
    return std::pair{end > piece->segment->touched, piece->capacity};
  };
  const auto best_that_fits = [&] {
    Block* best = nullptr;
    for (Block* piece = waiting_; piece != nullptr; piece = piece->next) {
      if (piece->capacity < wanted) continue;
      if (best == nullptr || cost(piece) < cost(best)) best = piece;
    }
    return best;
  };
  Block* block = best_that_fits();
  if (block == nullptr) {
    add_segment(wanted);
    block = best_that_fits();
  }
  stop_waiting(block);
  if (block->capacity >= wanted + header + smallest_rest) {
    auto* const place = static_cast<std::byte*>(block->data()) + wanted;
    Block* const rest = make_piece(place, block->segment, block, block->capacity - wanted - header);
    after(rest)->before = rest;
    block->capacity = wanted;
    wait(rest);
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
  if (right->waiting) {
    stop_waiting(right);
    absorb(block, right);
  }
  Block* const left = block->before;
  if (left != nullptr && left->waiting) {
    stop_waiting(left);
    absorb(left, block);
    block = left;
  }
  wait(block);
}

std::size_t LargeBlocks::trim() {
  std::size_t freed = 0;
  for (Segment** link = &segments_; *link != nullptr;) {
    Segment* const segment = *link;
    Block* const piece = segment->first();
    if (!piece->waiting || header + piece->capacity < segment->capacity) {
      link = &segment->next;
      continue;
    }
    stop_waiting(piece);
    allow_access(piece->data(), piece->capacity);
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
  Block* const piece = make_piece(segment->first(), segment, nullptr, capacity - header);
  make_piece(after(piece), segment, piece, 0);
  forbid_access(piece->data(), piece->capacity);
  wait(piece);
}

void LargeBlocks::wait(Block* block) {
  block->waiting = true;
  block->previous = nullptr;
  block->next = waiting_;
  if (waiting_ != nullptr) waiting_->previous = block;
  waiting_ = block;
}

void LargeBlocks::stop_waiting(Block* block) {
  block->waiting = false;
  (block->previous != nullptr ? block->previous->next : waiting_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

}  // namespace detail
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
