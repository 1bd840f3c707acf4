// A file compiled for double; the other half of a program that must not link.
#include "headroom/array/array.hpp"

headroom::Real total(const headroom::Array& array);

headroom::Real total(const headroom::Array& array) {
  headroom::Real sum = 0;
  for (const headroom::Real value : array.span()) sum += value;
  return sum;
}
