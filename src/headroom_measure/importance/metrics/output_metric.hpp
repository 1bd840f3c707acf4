// The common part of metrics that read the outputs of heads.
#pragma once

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sees what every head adds to its attention's output.
class OutputMetric : public HeadMetric {
 public:
  MetricNeeds needs() const override { return {.head_outputs = true}; }
  void begin(const MetricSubject& subject) override;
  std::string absent() const override { return absent_; }

 protected:
  /// A_h at the queries of a batch that are not padding, [rows, D].
  static Array outputs(const Evidence& batch, std::size_t head);
  /// A_h W_O^h at these queries, [rows, C].
  Array contributions(const Evidence& batch, std::size_t head) const;
  /// W_O^h, [C, D].
  const Array& matrix(std::size_t head) const { return matrices_[head]; }

 private:
  std::vector<Array> matrices_;
  std::string absent_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
