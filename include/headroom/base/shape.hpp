// Shape: the sizes of an array's axes, at most six of them, without heap memory.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes of the axes of an array, outermost first. Rank 0 is a scalar (one element).
class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  /// Throws ShapeError for more than six axes or a negative size.
  Shape(std::initializer_list<Index> sizes);
  explicit Shape(std::span<const Index> sizes);

  int rank() const { return rank_; }
  /// Number of elements: the product of the sizes, 1 for rank 0. Throws ShapeError above 2^48.
  Index size() const;
  /// Size of one axis; negative axes count from the end. Throws ShapeError when there is no such
  /// axis.
  Index operator[](int axis) const { return sizes_[static_cast<std::size_t>(axis_index(axis))]; }
  void set(int axis, Index size) { sizes_[static_cast<std::size_t>(axis_index(axis))] = size; }
  /// The axis as a number in [0, rank). Throws ShapeError when there is no such axis.
  int axis_index(int axis) const {
    if (axis < -rank_ || axis >= rank_) throw_no_axis(axis);
    return axis < 0 ? axis + rank_ : axis;
  }

  /// This shape without one axis, with one more axis, or with an axis of another size.
  Shape without(int axis) const;
  Shape inserted(int axis, Index size) const;
  Shape with(int axis, Index size) const;
  void push_back(Index size);

  std::span<const Index> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }
  auto begin() const { return sizes_.begin(); }
  auto end() const { return sizes_.begin() + rank_; }
  bool operator==(const Shape& other) const;

  /// "[2, 3]"
  std::string text() const;

 private:
  [[noreturn]] void throw_no_axis(int axis) const;

  std::array<Index, max_rank> sizes_{};
  int rank_ = 0;
};

/// NumPy's broadcasting rule: aligned at the last axis, sizes equal or one of them 1.
/// Throws ShapeError naming `operation` and both shapes.
Shape broadcast(const char* operation, const Shape& a, const Shape& b);

/// True when `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

/// The axis as a number in [0, rank), counted from the end if it is negative. Throws ShapeError
/// that names the operation.
int checked_axis(const char* op, const Shape& shape, int axis);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
