// Helpers of the direct tests of operations.
#pragma once

#include <vector>

#include "headroom/autograd/tensor.hpp"

/// The elements of an array, to compare with a list.
inline std::vector<headroom::Real> values(const headroom::Array& array) {
  return {array.data(), array.data() + array.size()};
}
using Values = std::vector<headroom::Real>;
