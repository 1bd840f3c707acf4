//! title: the metric sensitivity
//! replaces: headroom::metric_sensitivity
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 11/1
//! hint: Of one example the loss rises with the gate, of the next one it falls. What is left of the
//!   two if you add first and take the absolute value then?
//! hint: In see(): give sums_ one element per head, add |gradient| of each example and head to it,
//!   and count the examples. In scores(): divide once, by all examples of all batches.
//! hint: sums_.resize(std::size_t(heads)); for each b and h: sums_[h] +=
//!   std::abs(double(batch.gate_gradients[b * heads + h])); examples_ += batch.examples. scores()
//!   returns sums_[h] / double(examples_).
//! after: The library runs one forward and one backward pass for all metrics together, so yours
//!   costs nothing beside another one that needs gradients.
// Exercise 11/3, sensitivity: how steep is the loss at the gate?
#include "3_sensitivity.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class Sensitivity : public HeadMetric {
 public:
  MetricNeeds needs() const override {
    //! solution
    return {.gate_gradients = true};
    //! skeleton
    // return chapter::todo("needs: what see() wants to read");
    //! wrong needs_nothing: see() was not given any gradients
    // return {};
    //! end
  }

  void see(const Evidence& batch) override {
    const auto heads = std::ssize(batch.heads);
    sums_.resize(static_cast<std::size_t>(heads));
    //! solution
    for (Index b = 0; b < batch.examples; ++b) {
      for (Index h = 0; h < heads; ++h) {
        sums_[static_cast<std::size_t>(h)] +=
            std::abs(double(batch.gate_gradients[b * heads + h]));
      }
    }
    examples_ += batch.examples;
    //! skeleton
    // const double contribution = chapter::todo("what example b adds to the sum of head h");
    // sums_[0] += contribution;
    // examples_ += batch.examples;
    //! mistake abs_of_mean: gradients of different examples cancelled: the mean of |g| is not |the
    //!   mean of g|
    //- sums_[static_cast<std::size_t>(h)] +=
    //-     std::abs(double(batch.gate_gradients[b * heads + h]));
    //+ sums_[static_cast<std::size_t>(h)] += double(batch.gate_gradients[b * heads + h]);
    // ...
    //- for (double& mean : means) mean /= double(examples_);
    //+ for (double& mean : means) mean = std::abs(mean) / double(examples_);
    //! mistake abs_of_batch: the gradients of the examples of a batch were added first: they
    //!   cancelled, the more the larger the batch
    // for (Index h = 0; h < heads; ++h) {
    //   double sum = 0;
    //   for (Index b = 0; b < batch.examples; ++b) {
    //     sum += double(batch.gate_gradients[b * heads + h]);
    //   }
    //   sums_[static_cast<std::size_t>(h)] += std::abs(sum);
    // }
    // examples_ += batch.examples;
    //! mistake last_batch: only the last batch counts: sums_ was set where it should be added to
    //  sums_.resize(static_cast<std::size_t>(heads));
    //+ std::fill(sums_.begin(), sums_.end(), 0);
    // ...
    //- examples_ += batch.examples;
    //+ examples_ = batch.examples;
    //! mistake mean_of_means: every batch counts the same, but the last one of a set has fewer
    //!   examples: divide once, at the end
    //- std::abs(double(batch.gate_gradients[b * heads + h]));
    //+ std::abs(double(batch.gate_gradients[b * heads + h])) / double(batch.examples);
    // ...
    //- examples_ += batch.examples;
    //+ ++examples_;
    //! mistake squares: the gradients were squared: that is another metric, fisher
    //- std::abs(double(batch.gate_gradients[b * heads + h]));
    //+ std::pow(double(batch.gate_gradients[b * heads + h]), 2);
    //! mistake counts_batches: the sums were divided by the number of batches, not by that of
    //!   examples
    //- examples_ += batch.examples;
    //+ ++examples_;
    //! mistake transposed: the gradients [examples, heads] were read as [heads, examples]
    //- std::abs(double(batch.gate_gradients[b * heads + h]));
    //+ std::abs(double(batch.gate_gradients[h * batch.examples + b]));
    //! end
  }

  std::vector<double> scores() const override {
    //! solution
    std::vector<double> means = sums_;
    for (double& mean : means) mean /= double(examples_);
    return means;
    //! skeleton
    // return chapter::todo("the means: divide each sum by the number of examples");
    //! end
  }

 private:
  std::vector<double> sums_;
  Index examples_ = 0;
};

}  // namespace

MetricEntry metric_sensitivity() {
  return {{.name = "sensitivity",
           .formula = "E_x |dL(x)/dg_h|",
           .source = "Michel, Levy and Neubig 2019, equation 2",
           .cost = "B"},
          [] { return std::make_unique<Sensitivity>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
