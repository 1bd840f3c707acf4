// A file compiled for float; half of a program that must not link.
#include "headroom/array/array.hpp"

headroom::Real total(const headroom::Array& array);

int main() { return total(headroom::ones({2, 3})) == 6 ? 0 : 1; }
