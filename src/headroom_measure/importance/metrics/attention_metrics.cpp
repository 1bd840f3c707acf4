// Metrics that are a mean over the rows of attention maps.
#include <cmath>

#include "importance/evidence_pass.hpp"
#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// One row of a map: the attention weights of one query of one head.
struct MapRow {
  std::span<const Real> weights;  // [Tk]
  Index allowed;                  // number of keys that the query may attend to, at least 1
  double entropy, maximum;

  double sum_of_squares() const {
    double squares = 0;
    for (const Real weight : weights) squares += double(weight) * double(weight);
    return squares;
  }
};

double itself(double mean) { return mean; }
double root(double mean) { return std::sqrt(mean); }

/// after(E f(row)) over the examples' queries that are not padding and may attend to a key.
class RowMetric : public HeadMetric {
 public:
  explicit RowMetric(double (*f)(const MapRow&), double (*after)(double) = itself)
      : f_(f), after_(after) {}
  MetricNeeds needs() const override { return {.maps = true}; }
  void see(const Evidence& batch) override {
    sums_.resize(batch.heads.size());
    rows_.resize(batch.heads.size());
    for (std::size_t h = 0; h < batch.heads.size(); ++h) {
      const HeadId& head = batch.heads[h];
      const AttentionOut& out = batch.probe.seen.at({head.kind, head.layer});
      const Array& maps = out.maps.value();  // [B, live, Tq, Tk]
      const Index live = maps.dim(1), queries = maps.dim(2), keys = maps.dim(3);
      for (Index b = 0; b < batch.examples; ++b) {
        const Index real = real_queries(batch, head.kind, b, queries);
        for (Index i = 0; i < real; ++i) {
          const Index row = (b * live + batch.row_of_head[h]) * queries + i;
          const Index allowed = out.rows.allowed[row];
          if (allowed < 1) continue;
          sums_[h] += f_({{maps.data() + row * keys, std::size_t(keys)},
                          allowed,
                          double(out.rows.entropy[row]),
                          double(out.rows.maximum[row])});
          ++rows_[h];
        }
      }
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> means = sums_;
    for (std::size_t h = 0; h < means.size(); ++h) means[h] = after_(means[h] / rows_[h]);
    return means;
  }

 private:
  double (*f_)(const MapRow&);
  double (*after_)(double);
  std::vector<double> sums_;
  std::vector<double> rows_;
};

/// A constant, kept to show that it is one: the weights of a row sum to 1.
double sum_of_weights(const MapRow& row) {
  double sum = 0;
  for (const Real weight : row.weights) sum += std::abs(double(weight));
  return sum;
}

double variance_over_keys(const MapRow& row) {
  const auto count = double(row.allowed);
  return row.sum_of_squares() / count -
         1 / (count * count);  // the mean of the weights is 1 / count
}

/// A row with one allowed key has no choice, and counts as 0.
double relative_entropy(const MapRow& row) {
  return row.allowed == 1 ? 0 : row.entropy / std::log(double(row.allowed));
}

/// Voita et al. leave out the end symbol as a key. Here it never is one: sources have no end
/// symbol, and the decoder's inputs begin with <bos> and do not contain <eos>.
double largest_weight(const MapRow& row) { return row.maximum; }

/// A head without anything to do often attends to the first token (an attention sink). The paper of
/// 2025 (arXiv 2504.03889) compares 13 scores with thresholds; this is one of them, without the
/// threshold. It finds that scores of the first token miss more than 7 % of the heads, inactive
/// ones that the norms of outputs find: output_norm is the counterpart here.
double first_weight(const MapRow& row) { return double(row.weights.front()); }

}  // namespace

std::vector<MetricEntry> attention_metrics() {
  return {
      metric_of<RowMetric>({.name = "attention_l1",
                            .formula = "E sum_j p_ij",
                            .source = "a proposal of public threads; it is 1 for every head",
                            .cost = "F"},
                           sum_of_weights),
      metric_of<RowMetric>(
          {.name = "attention_l2",
           .formula = "sqrt(E sum_j p_ij^2)",
           .source = "a proposal of public threads",
           .cost = "F"},
          [](const MapRow& row) { return row.sum_of_squares(); }, root),
      metric_of<RowMetric>({.name = "position_variance",
                            .formula = "E Var_j p_ij over the allowed keys j",
                            .source = "a proposal of public threads; where all rows are equally "
                                      "long, it ranks as attention_l2",
                            .cost = "F"},
                           variance_over_keys),
      metric_of<RowMetric>({.name = "entropy",
                            .formula = "E H(p_i) / ln(allowed keys)",
                            .source = "Voita et al. 2019; low entropy counts as important",
                            .keep_low = true,
                            .cost = "F"},
                           relative_entropy),
      metric_of<RowMetric>({.name = "confidence",
                            .formula = "E max_j p_ij",
                            .source = "Voita et al. 2019, section 3",
                            .cost = "F"},
                           largest_weight),
      metric_of<RowMetric>({.name = "first_token",
                            .formula = "E p_i0",
                            .source = "Guo et al. 2024; Sandoval-Segura et al. 2025, one of 13 "
                                      "scores, without a threshold; it misses inactive heads that "
                                      "output_norm finds",
                            .keep_low = true,
                            .cost = "F"},
                           first_weight),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
