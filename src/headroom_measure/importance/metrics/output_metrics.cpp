// Metrics of the outputs of heads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "headroom/algebra/algebra.hpp"
#include "importance/evidence_pass.hpp"
#include "importance/metrics/families.hpp"
#include "importance/readout.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Sees what every head adds to its attention's output.
class OutputMetric : public HeadMetric {
 public:
  MetricNeeds needs() const override { return {.head_outputs = true}; }
  void begin(const MetricSubject& subject) override {
    absent_ = missing_block(subject, HeadRole::output);
    if (!absent_.empty()) return;
    for (const NamedAttention& found : attentions(subject.model)) {
      for (const Index head : found.attention->alive()) {
        matrices_.push_back(share_of(found, head).value.at(HeadRole::output));
      }
    }
  }
  std::string absent() const override { return absent_; }

 protected:
  /// A_h at the queries of a batch that are not padding, [rows, D].
  static Array outputs(const Evidence& batch, std::size_t head) {
    const HeadId& id = batch.heads[head];
    const Array& all = batch.probe.seen.at({id.kind, id.layer}).head_out.value();
    const Index live = all.dim(1), queries = all.dim(2), width = all.dim(3);  // [B, live, Tq, D]
    Index rows = 0;
    for (Index b = 0; b < batch.examples; ++b) rows += real_queries(batch, id.kind, b, queries);
    Array some({rows, width});
    Real* to = some.data();
    for (Index b = 0; b < batch.examples; ++b) {
      const Real* from = all.data() + (b * live + batch.row_of_head[head]) * queries * width;
      to = std::copy_n(from, real_queries(batch, id.kind, b, queries) * width, to);
    }
    return some;
  }
  /// A_h W_O^h at these queries, [rows, C].
  Array contributions(const Evidence& batch, std::size_t head) const {
    return matmul(outputs(batch, head), transposed(matrix(head)));
  }
  /// W_O^h, [C, D].
  const Array& matrix(std::size_t head) const { return matrices_[head]; }

 private:
  std::vector<Array> matrices_;
  std::string absent_;
};

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

/// Mean and sum of squared deviations of one feature of a head, by Welford 1962.
struct Spread {
  double rows = 0, mean = 0, squares = 0;
  void add(double value) {
    const double before = value - mean;
    mean += before / ++rows;
    squares += before * (value - mean);
  }
};

/// FLAP's fluctuation score, summed over the features of a head and divided by the number of rows n
/// in place of n - 1. Two parts of FLAP are left out: it standardises the scores within each layer
/// before it compares layers, and it adds the mean of the outputs that it removes to the bias
/// (`--compensate mean`).
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

/// The contribution of a head to the correct logits by itself. Heads of an encoder before a decoder
/// add nothing: they act through cross-attention only.
class DirectEffect : public OutputMetric {
 public:
  void begin(const MetricSubject& subject) override {
    OutputMetric::begin(subject);
    readout_.emplace(subject.model);
  }
  std::string absent() const override {
    return OutputMetric::absent().empty() ? readout_->absent() : OutputMetric::absent();
  }
  void see(const Evidence& batch) override {
    sums_.resize(batch.heads.size(), 0);
    examples_ += batch.examples;
    const Array gradient = readout_->gradient(batch);  // [B T, C]
    for (std::size_t h = 0; h < batch.heads.size(); ++h) {
      const HeadId& id = batch.heads[h];
      if (!readout_->reads(id.kind)) continue;
      const Array of_outputs = matmul(gradient, matrix(h));  // [B T, D]
      const Array& all = batch.probe.seen.at({id.kind, id.layer}).head_out.value();
      const Index live = all.dim(1), size = all.dim(2) * all.dim(3);  // [B, live, T, D]
      for (Index b = 0; b < batch.examples; ++b) {
        const Real* outputs = all.data() + (b * live + batch.row_of_head[h]) * size;
        for (Index i = 0; i < size; ++i) {
          sums_[h] += double(outputs[i]) * double(of_outputs[b * size + i]);
        }
      }
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> means = sums_;
    for (double& mean : means) mean /= double(examples_);
    return means;
  }

 private:
  std::optional<Readout> readout_;
  std::vector<double> sums_;
  Index examples_ = 0;
};

/// How much of a head's direct effect remains in the correct logits without it, because later
/// layers and the scale of the last norm change. A head that is repaired can go.
class SelfRepair : public DirectEffect {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    std::vector<HeadSet> subsets{game.all()};
    for (Index h = 0; h < game.size(); ++h) subsets.push_back(game.all().without(h));
    const std::vector<double> logits = game.correct_logits(subsets);
    for (std::size_t h = 1; h < logits.size(); ++h) falls_.push_back(logits[0] - logits[h]);
  }
  std::vector<double> scores() const override {
    std::vector<double> rest = DirectEffect::scores();
    for (std::size_t h = 0; h < rest.size(); ++h) rest[h] -= falls_[h];
    return rest;
  }

 private:
  std::vector<double> falls_;
};

}  // namespace

std::string missing_block(const MetricSubject& subject, HeadRole role) {
  for (const NamedAttention& found : attentions(subject.model)) {
    const std::vector<HeadSlice> slices = found.attention->head_slices();
    for (const Index head : found.attention->alive()) {
      const bool own = std::any_of(slices.begin(), slices.end(), [&](const HeadSlice& slice) {
        return slice.head == head && slice.role == role;
      });
      if (own) continue;
      return fmt::format("{} has no {} parameters of its own in the layout {}",
                         found.id(head).text(), name_of(role), name_of(found.attention->layout()));
    }
  }
  return {};
}

MetricEntry metric_self_repair() {
  return metric_of<SelfRepair>(
      {.name = "self_repair",
       .formula = "direct_effect - E_x sum over labels y of the fall of z_y "
                  "- mean z without h",
       .source = "Rushing and Nanda 2024, arXiv 2402.15390, with outputs of "
                 "0 in place of those of other examples",
       .keep_low = true,
       .cost = "N F"});
}

std::vector<MetricEntry> output_metrics() {
  return {
      metric_of<OutputNorm>({.name = "output_norm",
                             .formula = "E |A_h W_O^h| over the queries",
                             .source = "Kobayashi et al. 2020, for the whole output of a head",
                             .cost = "F"}),
      metric_of<OutputVariance>({.name = "output_variance",
                                 .formula = "sum_d Var(A_hd) |W_O^h[:, d]|^2, Var over the queries",
                                 .source = "An et al. 2024 (FLAP), WIFV, not standardised over "
                                           "layers",
                                 .cost = "F"}),
      metric_of<Redundancy>({.name = "redundancy",
                             .formula = "max over the attention's other heads k of cos(A_h W_O^h, "
                                        "A_k W_O^k)",
                             .source = "after the disagreement of outputs of Li et al. 2018",
                             .keep_low = true,
                             .cost = "F"}),
      metric_of<DirectEffect>({.name = "direct_effect",
                               .formula =
                                   "E_x sum over labels y of <A_h W_O^h, d(z_y - mean z)/dr>,"
                                   " r the last residual stream, the norm's scale fixed",
                               .source = "Rushing and Nanda 2024, arXiv 2402.15390",
                               .cost = "F"}),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
