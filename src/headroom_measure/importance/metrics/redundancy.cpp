// The metric redundancy.
#include <algorithm>
#include <cmath>

#include "importance/metrics/output_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

bool together(const HeadId& a, const HeadId& b) { return a.kind == b.kind && a.layer == b.layer; }

/// The outputs at all queries are one vector. -1, the least cosine, if there is no other head.
class Redundancy : public OutputMetric {
 public:
  void see(const Evidence& batch) override {
    heads_.assign(batch.heads.begin(), batch.heads.end());
    products_.resize(heads_.size(), std::vector<double>(heads_.size()));
    std::vector<Array> of_heads;
    for (std::size_t h = 0; h < heads_.size(); ++h) of_heads.push_back(contributions(batch, h));
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      for (std::size_t k = 0; k < heads_.size(); ++k) {
        if (!together(heads_[h], heads_[k])) continue;
        for (Index i = 0; i < of_heads[h].size(); ++i) {
          products_[h][k] += double(of_heads[h][i]) * double(of_heads[k][i]);
        }
      }
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> largest(heads_.size(), -1);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      for (std::size_t k = 0; k < heads_.size(); ++k) {
        if (h == k || !together(heads_[h], heads_[k])) continue;
        const double norms = std::sqrt(products_[h][h] * products_[k][k]);
        largest[h] = std::max(largest[h], norms > 0 ? products_[h][k] / norms : 0);
      }
    }
    return largest;
  }

 private:
  std::vector<HeadId> heads_;
  std::vector<std::vector<double>> products_;  // <A_h W_O^h, A_k W_O^k> of heads of one attention
};

}  // namespace

MetricEntry metric_redundancy() {
  return {{.name = "redundancy",
           .formula = "max over the attention's other heads k of cos(A_h W_O^h, A_k W_O^k)",
           .source = "after the disagreement of outputs of Li et al. 2018",
           .keep_low = true,
           .cost = "F"},
          [] { return std::make_unique<Redundancy>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
