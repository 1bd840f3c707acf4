// The common part of metrics that are a mean over the rows of attention maps.
#pragma once

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One row of a map: the attention weights of one query of one head.
struct MapRow {
  std::span<const Real> weights;  // [Tk]
  Index allowed;                  // number of keys that the query may attend to, at least 1
  double entropy, maximum;
};

/// E f(row) over the examples' queries that are not padding and may attend to a key.
class RowMetric : public HeadMetric {
 public:
  MetricNeeds needs() const override { return {.maps = true}; }
  void see(const Evidence& batch) override;
  std::vector<double> scores() const override;

 protected:
  virtual double of_row(const MapRow& row) const = 0;

 private:
  std::vector<double> sums_;
  std::vector<double> rows_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
