// Survey: the same measurement in many draws, and its statistics: means, extremes. Private.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "headroom/base/extremes.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One sample of each draw. A `part` selects a number of a sample: a member pointer or a function.
/// ```
/// const Survey<Kept> seen(5, [&](std::uint64_t draw) { return kept(clip, draw); });
/// rows.push_back({clip.name, seen.mean(&Kept::scaled), seen.largest(&Kept::cosine)});
/// ```
template <class Sample>
class Survey {
 public:
  Survey() = default;
  /// Calls measure(draw) for the draws 0, 1, ..., `draws` - 1.
  template <class Measure>
  Survey(Index draws, const Measure& measure) {
    for (Index draw = 0; draw < draws; ++draw) {
      samples_.push_back(measure(static_cast<std::uint64_t>(draw)));
    }
  }
  void add(Sample sample) { samples_.push_back(std::move(sample)); }
  const std::vector<Sample>& samples() const { return samples_; }

  template <class Part>
  std::vector<double> all(const Part& part) const {
    std::vector<double> values;
    for (const Sample& sample : samples_) {
      values.push_back(double(std::invoke(part, sample)));
    }
    return values;
  }
  /// The mean with its 95 % interval.
  template <class Part>
  Interval mean(const Part& part) const {
    return mean_interval(all(part));
  }
  // NaN where a sample's part is NaN.
  template <class Part>
  double largest(const Part& part) const {
    return headroom::largest(all(part));
  }
  template <class Part>
  double smallest(const Part& part) const {
    return headroom::smallest(all(part));
  }
  /// The largest |part - expected|.
  template <class Part>
  double off(const Part& part, double expected) const {
    double most = 0;
    for (const double value : all(part)) most = larger(most, std::abs(value - expected));
    return most;
  }
  /// Number of samples with a property.
  template <class Property>
  Index count(const Property& property) const {
    Index found = 0;
    for (const Sample& sample : samples_) found += std::invoke(property, sample) ? 1 : 0;
    return found;
  }

 private:
  std::vector<Sample> samples_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
