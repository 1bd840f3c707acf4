// Values of several seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headroom/statistics/ranks.hpp"

/// The smallest, largest and middle value.
struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) {  // NaN counts as infinite
    least = std::min(least, value);
    most = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::max(most, value);
    values.push_back(value);
  }
  double middle() const { return headroom::median(values); }
  std::vector<double> values = {};
};
