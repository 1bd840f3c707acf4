// Array: elements in row-major order with a shape. A handle to a shared, pooled, always contiguous
// buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

#include "headroom/array/pool.hpp"
#include "headroom/base/shape.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace detail {
[[noreturn]] void throw_wrong_count(const char* what, const Shape& shape, Index count);
[[noreturn]] void throw_wrong_index(const Shape& shape, Index index);
[[noreturn]] void throw_undefined_array();
}  // namespace detail

/// Elements of type T in row-major order. Copying a handle shares the buffer; clone() copies the
/// elements. A default-constructed one is undefined: it has no buffer and shape [0].
template <class T>
class ArrayOf {
 public:
  ArrayOf() = default;
  /// Uninitialised elements.
  explicit ArrayOf(const Shape& shape)
      : shape_(shape),
        block_(detail::take_block(static_cast<std::size_t>(shape.size()) * sizeof(T))) {}
  ArrayOf(const Shape& shape, T fill) : ArrayOf(shape) { std::fill_n(data(), size(), fill); }
  /// Throws ShapeError unless there are shape.size() elements.
  ArrayOf(const Shape& shape, std::span<const T> elements) : ArrayOf(shape) {
    if (Index(elements.size()) != size()) {
      detail::throw_wrong_count("array", shape, Index(elements.size()));
    }
    std::copy(elements.begin(), elements.end(), data());
  }
  ArrayOf(const Shape& shape, std::initializer_list<T> elements)
      : ArrayOf(shape, std::span<const T>(elements.begin(), elements.size())) {}

  ArrayOf(const ArrayOf& other) : shape_(other.shape_), block_(other.block_) {
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  ArrayOf(ArrayOf&& other) noexcept
      : shape_(other.shape_), block_(std::exchange(other.block_, nullptr)) {
    other.shape_ = Shape{0};
  }
  ArrayOf& operator=(ArrayOf other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~ArrayOf() {
    if (block_ != nullptr && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      detail::return_block(block_);
    }
  }

  bool defined() const { return block_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index dim(int axis) const { return shape_[axis]; }
  Index size() const { return shape_.size(); }
  bool empty() const { return size() == 0; }

  T* data() { return block_ == nullptr ? nullptr : static_cast<T*>(block_->data()); }
  const T* data() const {
    return block_ == nullptr ? nullptr : static_cast<const T*>(block_->data());
  }
  /// Element i. Throws UsageError for an undefined array. With HEADROOM_CHECKED defined, as it is
  /// for the answers of the course, an index that does not exist throws ShapeError.
  T& operator[](Index i) { return elements()[checked(i)]; }
  const T& operator[](Index i) const { return elements()[checked(i)]; }
  std::span<T> span() { return {data(), static_cast<std::size_t>(size())}; }
  std::span<const T> span() const { return {data(), static_cast<std::size_t>(size())}; }

  /// Returns whether other handles share this buffer: a change in place would change theirs.
  bool shared() const {
    return block_ != nullptr && block_->holders.load(std::memory_order_acquire) > 1;
  }
  bool same_buffer(const ArrayOf& other) const {
    return block_ != nullptr && block_ == other.block_;
  }
  /// The same elements under another shape, without copying. Throws ShapeError when the sizes
  /// differ.
  ArrayOf reshaped(const Shape& shape) const {
    if (shape.size() != size()) detail::throw_wrong_count("reshape", shape, size());
    ArrayOf result = *this;
    result.shape_ = shape;
    return result;
  }
  ArrayOf clone() const {
    if (!defined()) return {};
    ArrayOf result(shape_);
    if (!empty()) std::memcpy(result.data(), data(), static_cast<std::size_t>(size()) * sizeof(T));
    return result;
  }

  /// Number of changes in place that were announced by mark_changed(). Shared by all handles of
  /// the buffer.
  std::uint32_t version() const { return block_ == nullptr ? 0 : block_->version; }
  void mark_changed() {
    if (block_ != nullptr) ++block_->version;
  }

 private:
  T* elements() const {
    if (block_ == nullptr) detail::throw_undefined_array();
    return static_cast<T*>(block_->data());
  }
  Index checked(Index i) const {
#ifdef HEADROOM_CHECKED
    // Not size(): it checks for overflow at each call, and this array exists.
    Index count = 1;
    for (const Index size : shape_.sizes()) count *= size;
    if (i < 0 || i >= count) detail::throw_wrong_index(shape_, i);
#endif
    return i;
  }

  Shape shape_{0};
  detail::Block* block_ = nullptr;
};

using Array = ArrayOf<Real>;
/// Token numbers, lengths, positions.
using Ids = ArrayOf<std::int32_t>;
/// Masks: 1 = may be attended to, 0 = may not.
using Bytes = ArrayOf<std::uint8_t>;

/// All elements 0, or 1.
Array zeros(const Shape& shape);
Array ones(const Shape& shape);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
