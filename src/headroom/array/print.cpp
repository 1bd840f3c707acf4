// Arrays as text.
#include "headroom/array/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_elements = 1000, edge_elements = 3, gap = -1;
constexpr std::size_t most_columns = 76;
constexpr int most_digits = 4;

/// The elements of an array that are shown: nested lists, by axis.
class ShownElements {
 public:
  explicit ShownElements(const Shape& shape)
      : shape_(shape), shortened_(shape.size() > most_elements) {}

  /// The indices of an axis, with a gap where it is shortened.
  std::vector<Index> indices(int axis) const {
    std::vector<Index> result;
    const Index length = shape_[axis];
    for (Index i = 0; i < length; ++i) {
      if (!shortened_ || length <= 2 * edge_elements + 1 || i < edge_elements ||
          i >= length - edge_elements) {
        result.push_back(i);
      } else if (i == edge_elements) {
        result.push_back(gap);
      }
    }
    return result;
  }

  /// Calls visit(element) for each element that is shown.
  void each(const std::function<void(Index)>& visit, int axis = 0, Index first = 0) const {
    if (axis == shape_.rank()) return visit(first);
    for (const Index i : indices(axis)) {
      if (i != gap) each(visit, axis + 1, first * shape_[axis] + i);
    }
  }

  /// The lists, with cell(element) for each element. A line that would be too long is broken.
  std::string lists(const std::function<std::string(Index)>& cell, int axis = 0,
                    Index first = 0) const {
    if (axis == shape_.rank()) return cell(first);
    const bool innermost = axis + 1 == shape_.rank();
    const std::string indent(static_cast<std::size_t>(axis + 1), ' ');
    const auto blank_lines = static_cast<std::size_t>(std::max(0, shape_.rank() - axis - 2));
    std::string text = "[";
    std::size_t line = indent.size();
    bool begun = false;
    for (const Index i : indices(axis)) {
      const std::string item = i == gap ? "..." : lists(cell, axis + 1, first * shape_[axis] + i);
      const bool breaks = innermost ? line + 1 + item.size() > most_columns : true;
      if (begun && breaks) text += std::string(innermost ? 1 : 1 + blank_lines, '\n') + indent;
      if (begun && !breaks) text += ' ';
      line = begun && !breaks ? line + 1 + item.size() : indent.size() + item.size();
      text += item;
      begun = true;
    }
    return text + "]";
  }

 private:
  Shape shape_;
  bool shortened_;
};

/// How all elements of an array are written.
struct Notation {
  bool scientific = false;
  int digits = 0;  // behind the point

  std::string operator()(double x) const {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
    if (scientific) return fmt::format("{:.{}e}", x, most_digits);
    return fmt::format("{:.{}f}{}", x, digits, digits == 0 ? "." : "");
  }
};

Notation notation_of(const std::vector<double>& elements) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  Notation notation;
  for (const double x : elements) {
    if (x == 0 || !std::isfinite(x)) continue;
    largest = std::max(largest, std::abs(x));
    smallest = std::min(smallest, std::abs(x));
    const std::string digits = fmt::format("{:.{}f}", x, most_digits);
    const auto behind = int(digits.find_last_not_of('0')) - int(digits.find('.'));
    notation.digits = std::max(notation.digits, behind);
  }
  notation.scientific =
      largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
  return notation;
}

/// The elements, right-aligned. `write` turns one into text.
template <class T, class Write>
std::string aligned(const ArrayOf<T>& array, const ShownElements& shown, Write write) {
  std::size_t width = 0;
  shown.each([&](Index i) { width = std::max(width, write(array[i]).size()); });
  return shown.lists([&](Index i) { return fmt::format("{:>{}}", write(array[i]), width); });
}

template <class T>
std::string integers_text(const ArrayOf<T>& array) {
  return aligned(array, ShownElements(array.shape()),
                 [](T n) { return fmt::format("{}", int(n)); });
}

template <class T>
std::string titled(const char* title, const ArrayOf<T>& array, const std::string& elements) {
  if (!array.defined()) return fmt::format("{}, undefined", title);
  return fmt::format("{} {}\n{}", title, array.shape().text(), elements);
}

}  // namespace

std::string elements_text(const Array& array) {
  const ShownElements shown(array.shape());
  std::vector<double> elements;
  shown.each([&](Index i) { elements.push_back(double(array[i])); });
  const Notation notation = notation_of(elements);
  return aligned(array, shown, [&](Real x) { return notation(double(x)); });
}

std::string text(const Array& array) { return titled("Array", array, elements_text(array)); }
std::string text(const Ids& ids) { return titled("Ids", ids, integers_text(ids)); }
std::string text(const Bytes& bytes) { return titled("Bytes", bytes, integers_text(bytes)); }

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << text(array); }
std::ostream& operator<<(std::ostream& out, const Ids& ids) { return out << text(ids); }
std::ostream& operator<<(std::ostream& out, const Bytes& bytes) { return out << text(bytes); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.text(); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
