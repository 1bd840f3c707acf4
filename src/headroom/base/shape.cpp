// Shape and the broadcasting rule.
#include "headroom/base/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
std::size_t at(int axis) { return static_cast<std::size_t>(axis); }
}  // namespace

Shape::Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const Index> sizes) {
  for (const Index size : sizes) push_back(size);
}

void Shape::push_back(Index size) {
  if (rank_ == max_rank) throw ShapeError(fmt::format("shape: at most {} axes", max_rank));
  if (size < 0) throw ShapeError(fmt::format("shape: size {} of axis {} is negative", size, rank_));
  sizes_[at(rank_++)] = size;
}

Index Shape::size() const {
  constexpr Index most = Index{1} << 48;  // more than any memory has; their bytes do not overflow
  Index n = 1;
  bool overflow = false;
  for (const Index size : sizes()) overflow |= __builtin_mul_overflow(n, size, &n);
  if (overflow || n > most) throw ShapeError("shape " + text() + ": too many elements");
  return n;
}

void Shape::throw_no_axis(int axis) const {
  throw ShapeError(fmt::format("axis {} does not exist in shape {}", axis, text()));
}

Shape Shape::without(int axis) const {
  const int gone = axis_index(axis);
  Shape result;
  for (int i = 0; i < rank_; ++i) {
    if (i != gone) result.push_back(sizes_[at(i)]);
  }
  return result;
}

Shape Shape::inserted(int axis, Index size) const {
  const int where = axis < 0 ? axis + rank_ + 1 : axis;
  Shape result;
  for (int i = 0; i <= rank_; ++i) {
    if (i == where) result.push_back(size);
    if (i < rank_) result.push_back(sizes_[at(i)]);
  }
  return result;
}

Shape Shape::with(int axis, Index size) const {
  Shape result = *this;
  result.set(axis, size);
  return result;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::string Shape::text() const { return fmt::format("[{}]", fmt::join(sizes(), ", ")); }

Shape broadcast(const char* operation, const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  for (int i = 1; i <= shorter.rank(); ++i) {
    const Index m = longer[-i], n = shorter[-i];
    if (m != n && m != 1 && n != 1) {
      throw ShapeError(
          fmt::format("{}: shapes {} and {} do not broadcast: axis {} from the end has {} and {}",
                      operation, a.text(), b.text(), i, a[-i], b[-i]));
    }
    result.set(-i, m == 1 ? n : m);
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    if (from[-i] != to[-i] && from[-i] != 1) return false;
  }
  return true;
}

int checked_axis(const char* op, const Shape& shape, int axis) {
  const int index = axis < 0 ? axis + shape.rank() : axis;
  if (index < 0 || index >= shape.rank()) {
    throw ShapeError(fmt::format("{}: axis {} does not exist in shape {}", op, axis, shape.text()));
  }
  return index;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
