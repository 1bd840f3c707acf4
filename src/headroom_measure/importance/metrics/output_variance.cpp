// The metric output_variance.
#include "importance/metrics/output_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Mean and sum of squared deviations of one feature of a head, by Welford 1962.
struct Spread {
  double rows = 0, mean = 0, squares = 0;
  void add(double value) {
    const double before = value - mean;
    mean += before / ++rows;
    squares += before * (value - mean);
  }
};

class OutputVariance : public OutputMetric {
 public:
  void see(const Evidence& batch) override {
    spreads_.resize(batch.heads.size());
    for (std::size_t h = 0; h < spreads_.size(); ++h) {
      const Array rows = outputs(batch, h);
      spreads_[h].resize(static_cast<std::size_t>(rows.dim(1)));
      const auto values = rows.span();
      for (std::size_t i = 0; i < values.size(); ++i) {
        spreads_[h][i % spreads_[h].size()].add(double(values[i]));
      }
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> scores(spreads_.size());
    for (std::size_t h = 0; h < scores.size(); ++h) {
      const auto weights = matrix(h).span();  // [C, D]
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const Spread& spread = spreads_[h][i % spreads_[h].size()];
        scores[h] += double(weights[i]) * double(weights[i]) * spread.squares / spread.rows;
      }
    }
    return scores;
  }

 private:
  std::vector<std::vector<Spread>> spreads_;  // of each head's features
};

}  // namespace

MetricEntry metric_output_variance() {
  return {{.name = "output_variance",
           .formula = "sum_d Var(A_hd) |W_O^h[:, d]|^2, Var over the queries",
           .source = "An et al. 2024 (FLAP), WIFV",
           .cost = "F"},
          [] { return std::make_unique<OutputVariance>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
