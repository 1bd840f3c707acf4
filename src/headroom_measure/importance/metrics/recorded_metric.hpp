// The common part of metrics whose scores were recorded while the model was trained.
#pragma once

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The recorded scores of this name.
class RecordedMetric : public HeadMetric {
 public:
  explicit RecordedMetric(std::string name) : name_(std::move(name)) {}
  void begin(const MetricSubject& subject) override;
  std::string absent() const override { return absent_; }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::string name_, absent_;
  std::vector<double> scores_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
