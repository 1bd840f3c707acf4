// Arrays and shapes as text, in NumPy's way.
#pragma once

#include <ostream>
#include <string>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// "Array [2, 3]" and the elements below it, in brackets as NumPy prints them: with at most 4
/// digits behind the point, in scientific notation if the largest is at least 1e8, the smallest
/// below 1e-4 or their ratio above 1000 (absolute values, without zeros). Of an array of more than
/// 1000 elements the first and last 3 of each axis. "Array, undefined" without elements.
std::string text(const Array& array);
std::string text(const Ids& ids);
std::string text(const Bytes& bytes);
/// The elements alone.
std::string elements_text(const Array& array);

/// Prints text().
std::ostream& operator<<(std::ostream& out, const Array& array);
std::ostream& operator<<(std::ostream& out, const Ids& ids);
std::ostream& operator<<(std::ostream& out, const Bytes& bytes);
/// Prints "[2, 3]".
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
