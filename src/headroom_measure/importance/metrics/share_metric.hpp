// The common parts of metrics that read the gradients of the heads' parameters.
#pragma once

#include "importance/metrics/example_mean.hpp"
#include "importance/metrics/own_block.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A metric of models in which each head has its own block of this role.
template <class Base, HeadRole needed>
class ShareMetric : public Base {
 public:
  MetricNeeds needs() const override { return {.parameter_gradients = true}; }
  void begin(const MetricSubject& subject) override { absent_ = missing_block(subject, needed); }
  std::string absent() const override { return absent_; }

 private:
  std::string absent_;
};

/// The mean over batches of f(share), f homogeneous of degree 1 in the gradient, which is that of
/// the batch's mean loss. Batches count by their examples.
template <double (*f)(const HeadShare&), HeadRole needed>
class BatchShareMetric : public ShareMetric<ExampleMean, needed> {
 private:
  void add(const Evidence& batch, std::size_t head, double& sum) const override {
    sum += f(batch.shares[head]);
  }
};

/// f(share) with the gradient of the mean loss of all examples.
template <double (*f)(const HeadShare&), HeadRole needed>
class MeanShareMetric : public ShareMetric<HeadMetric, needed> {
 public:
  void see(const Evidence& batch) override {
    examples_ += batch.examples;
    sums_.resize(batch.heads.size());
    for (std::size_t h = 0; h < sums_.size(); ++h) {
      sums_[h].value = batch.shares[h].value;
      for (const auto& [role, more] : batch.shares[h].gradient) {
        Array& sum = sums_[h].gradient[role];
        if (!sum.defined()) sum = zeros(more.shape());
        for (Index i = 0; i < sum.size(); ++i) sum[i] += more[i];
      }
    }
  }
  std::vector<double> scores() const override {
    std::vector<double> scores;
    for (const HeadShare& sum : sums_) {
      HeadShare mean{sum.head, sum.value, {}};
      for (const auto& [role, gradient] : sum.gradient) {
        Array& scaled = mean.gradient[role] = gradient.clone();
        for (Index i = 0; i < scaled.size(); ++i) scaled[i] /= Real(examples_);
      }
      scores.push_back(f(mean));
    }
    return scores;
  }

 private:
  std::vector<HeadShare> sums_;
  Index examples_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
