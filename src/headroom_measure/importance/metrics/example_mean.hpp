// The common part of metrics that are a mean over examples.
#pragma once

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sums over batches, divided by the number of examples.
class ExampleMean : public HeadMetric {
 public:
  void see(const Evidence& batch) final {
    sums_.resize(batch.heads.size());
    for (std::size_t head = 0; head < sums_.size(); ++head) add(batch, head, sums_[head]);
    examples_ += batch.examples;
  }
  std::vector<double> scores() const final {
    std::vector<double> means = sums_;
    for (double& mean : means) mean /= double(examples_);
    return means;
  }

 protected:
  /// Adds what a batch contributes to the sum of a head.
  virtual void add(const Evidence& batch, std::size_t head, double& sum) const = 0;
  /// Element [b, head] of an array [examples, heads].
  static double element(const Evidence& batch, const Array& array, Index b, std::size_t head) {
    return double(array[b * std::ssize(batch.heads) + Index(head)]);
  }

 private:
  std::vector<double> sums_;
  Index examples_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
