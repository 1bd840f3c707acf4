// Means over the rows of attention maps.
#include "importance/metrics/row_metric.hpp"

#include "importance/metrics/real_queries.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void RowMetric::see(const Evidence& batch) {
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
        sums_[h] += of_row({{maps.data() + row * keys, static_cast<std::size_t>(keys)},
                            allowed,
                            double(out.rows.entropy[row]),
                            double(out.rows.maximum[row])});
        ++rows_[h];
      }
    }
  }
}

std::vector<double> RowMetric::scores() const {
  std::vector<double> means = sums_;
  for (std::size_t h = 0; h < means.size(); ++h) means[h] /= rows_[h];
  return means;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
