// The metric output_norm.
#include <cmath>

#include "importance/metrics/output_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class OutputNorm : public OutputMetric {
 public:
  void see(const Evidence& batch) override {
    sums_.resize(batch.heads.size());
    rows_.resize(batch.heads.size());
    for (std::size_t h = 0; h < sums_.size(); ++h) {
      const Array rows = contributions(batch, h);
      const Index width = rows.dim(1);
      for (Index row = 0; row < rows.dim(0); ++row) {
        double squares = 0;
        for (Index c = row * width; c < (row + 1) * width; ++c) {
          squares += double(rows[c]) * double(rows[c]);
        }
        sums_[h] += std::sqrt(squares);
      }
      rows_[h] += rows.dim(0);
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> means = sums_;
    for (std::size_t h = 0; h < means.size(); ++h) means[h] /= double(rows_[h]);
    return means;
  }

 private:
  std::vector<double> sums_;
  std::vector<Index> rows_;
};

}  // namespace

MetricEntry metric_output_norm() {
  return {{.name = "output_norm",
           .formula = "E |A_h W_O^h| over the queries",
           .source = "Kobayashi et al. 2020, for the whole output of a head",
           .cost = "F"},
          [] { return std::make_unique<OutputNorm>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
