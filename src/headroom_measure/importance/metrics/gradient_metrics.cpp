// Metrics of gradients: those of the gates, and those of the heads' parameters.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Adds to the sum of a head what a batch contributes to it.
using AddBatch = std::function<void(const Evidence& batch, std::size_t head, double& sum)>;

/// Sums over batches, divided by the number of examples. `block`: only of models in which each head
/// has its own block of this role.
class ExampleMean : public HeadMetric {
 public:
  ExampleMean(MetricNeeds needs, AddBatch add, std::optional<HeadRole> block = {})
      : needs_(needs), add_(std::move(add)), block_(block) {}
  MetricNeeds needs() const override { return needs_; }
  void begin(const MetricSubject& subject) override {
    if (block_) absent_ = missing_block(subject, *block_);
  }
  std::string absent() const override { return absent_; }
  void see(const Evidence& batch) override {
    sums_.resize(batch.heads.size());
    for (std::size_t head = 0; head < sums_.size(); ++head) add_(batch, head, sums_[head]);
    examples_ += batch.examples;
  }
  std::vector<double> scores() const override {
    std::vector<double> means = sums_;
    for (double& mean : means) mean /= double(examples_);
    return means;
  }

 private:
  MetricNeeds needs_;
  AddBatch add_;
  std::optional<HeadRole> block_;
  std::string absent_;
  std::vector<double> sums_;
  Index examples_ = 0;
};

/// Element [b, head] of an array [examples, heads].
double element(const Evidence& batch, const Array& array, Index b, std::size_t head) {
  return double(array[b * std::ssize(batch.heads) + Index(head)]);
}

/// E_x f(dL(x)/dg_h).
MetricEntry of_gate_gradient(MetricInfo info, double (*f)(double)) {
  const AddBatch add = [f](const Evidence& batch, std::size_t head, double& sum) {
    for (Index b = 0; b < batch.examples; ++b) {
      sum += f(element(batch, batch.gate_gradients, b, head));
    }
  };
  return metric_of<ExampleMean>(std::move(info), MetricNeeds{.gate_gradients = true}, add);
}

/// The absolute value is taken for each example: gradients of other signs do not
/// cancel, but those of the tokens of one example do.
double absolute(double gradient) { return std::abs(gradient); }

/// The rise of the loss that a straight line through g = 1 predicts for g = 0. It may be negative.
double negative(double gradient) { return -gradient; }

double squared(double gradient) { return gradient * gradient; }

/// The mean over the directions u of <u, dz(x)/dg_h>^2. Its expectation is |dz(x)/dg_h|^2, since E
/// (u'v)^2 = |v|^2, and with n directions its deviation is sqrt(2 / n) of that.
void add_logit_jacobian(const Evidence& batch, std::size_t head, double& sum) {
  for (const Array& gradients : batch.logit_gradients) {
    for (Index b = 0; b < batch.examples; ++b) {
      sum += squared(element(batch, gradients, b, head)) / double(logit_directions);
    }
  }
}

/// Gradients of other signs at several tokens of an example do not cancel. So it is at least as
/// large as sensitivity, which is at least as large as sensitivity_per_batch.
void add_per_token(const Evidence& batch, std::size_t head, double& sum) {
  for (const Real gradient : batch.token_gate_gradients[head].span()) {
    sum += std::abs(double(gradient));
  }
}

/// Gradients of examples in one batch cancel, the more the larger the batches.
void add_per_batch(const Evidence& batch, std::size_t head, double& sum) {
  double gradient = 0;
  for (Index b = 0; b < batch.examples; ++b) {
    gradient += element(batch, batch.gate_gradients, b, head);
  }
  sum += std::abs(gradient);
}

/// The values, shifted and scaled to [0, 1]; equal ones give 0.
std::vector<double> scaled(std::vector<double> values) {
  if (values.empty()) return values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double from = *least, width = *most - *least;
  for (double& value : values) value = width > 0 ? (value - from) / width : 0;
  return values;
}

class EntropyAndSensitivity : public HeadMetric {
 public:
  MetricNeeds needs() const override {
    MetricNeeds both = entropy_->needs();
    return both |= sensitivity_->needs();
  }
  void see(const Evidence& batch) override {
    entropy_->see(batch);
    sensitivity_->see(batch);
  }
  std::vector<double> scores() const override {
    std::vector<double> scores = scaled(sensitivity_->scores());
    const std::vector<double> entropy = scaled(entropy_->scores());
    for (std::size_t h = 0; h < scores.size(); ++h) scores[h] = (scores[h] + 1 - entropy[h]) / 2;
    return scores;
  }

 private:
  std::unique_ptr<HeadMetric> entropy_ = head_metric("entropy").make();
  std::unique_ptr<HeadMetric> sensitivity_ = head_metric("sensitivity").make();
};

/// The sensitivities of each attention's heads, divided by their l2 norm. Michel et al. normalise
/// by layer; the two attentions of a decoder layer count as two here, as their gradients have
/// different scales. 0 in an attention without any sensitivity.
class NormalisedSensitivity : public HeadMetric {
 public:
  MetricNeeds needs() const override { return sensitivity_->needs(); }
  void see(const Evidence& batch) override {
    heads_.assign(batch.heads.begin(), batch.heads.end());
    sensitivity_->see(batch);
  }
  std::vector<double> scores() const override {
    std::vector<double> scores = sensitivity_->scores();
    std::map<AttentionLocation, double> squares;
    for (std::size_t h = 0; h < scores.size(); ++h) {
      squares[{heads_[h].kind, heads_[h].layer}] += scores[h] * scores[h];
    }
    for (std::size_t h = 0; h < scores.size(); ++h) {
      const double sum = squares.at({heads_[h].kind, heads_[h].layer});
      scores[h] = sum > 0 ? scores[h] / std::sqrt(sum) : 0;
    }
    return scores;
  }

 private:
  std::vector<HeadId> heads_;
  std::unique_ptr<HeadMetric> sensitivity_ = head_metric("sensitivity").make();
};

/// E f(share) over the batches, f homogeneous of degree 1 in the gradient, which is that of the
/// batch's mean loss. Batches count by their examples.
MetricEntry of_batch_shares(MetricInfo info, double (*f)(const HeadShare&), HeadRole block) {
  const AddBatch add = [f](const Evidence& batch, std::size_t head, double& sum) {
    sum += f(batch.shares[head]);
  };
  return metric_of<ExampleMean>(std::move(info), MetricNeeds{.parameter_gradients = true}, add,
                                block);
}

/// f(share) with the gradient of the mean loss of all examples.
class MeanShare : public HeadMetric {
 public:
  MeanShare(double (*f)(const HeadShare&), HeadRole block) : f_(f), block_(block) {}
  MetricNeeds needs() const override { return {.parameter_gradients = true}; }
  void begin(const MetricSubject& subject) override { absent_ = missing_block(subject, block_); }
  std::string absent() const override { return absent_; }
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
      scores.push_back(f_(mean));
    }
    return scores;
  }

 private:
  double (*f_)(const HeadShare&);
  HeadRole block_;
  std::string absent_;
  std::vector<HeadShare> sums_;
  Index examples_ = 0;
};

double value_path(const HeadShare& share) {
  return std::abs(scaling_gradient(share, HeadRole::output));
}

/// <S, dL/dS> for the head's scores S, which are linear in W_Q and b_Q together: the change of the
/// loss when the attention gets sharper.
double routing_path(const HeadShare& share) {
  return std::abs(scaling_gradient(share, HeadRole::query) +
                  scaling_gradient(share, HeadRole::query_bias));
}

double parameter_taylor(const HeadShare& share) {
  double sum = 0;
  for (const auto& [role, gradient] : share.gradient) {
    const Array& value = share.value.at(role);
    for (Index i = 0; i < value.size(); ++i) {
      sum += std::abs(double(value[i]) * double(gradient[i]));
    }
  }
  return sum;
}

double gradient_norms(const HeadShare& share) {
  double product = 1;
  for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value}) {
    const auto gradient = share.gradient.find(role);
    if (gradient == share.gradient.end()) return 0;
    double squares = 0;
    for (const Real g : gradient->second.span()) squares += double(g) * double(g);
    product *= std::sqrt(squares);
  }
  return product;
}

}  // namespace

/// The score of equation 2 itself. Michel et al. remove heads by sensitivity_normalised, and their
/// program takes the absolute value per token, as sensitivity_per_token does.
MetricEntry metric_sensitivity() {
  return of_gate_gradient({.name = "sensitivity",
                           .formula = "E_x |dL(x)/dg_h|",
                           .source = "Michel, Levy and Neubig 2019, equation 2, without the norm "
                                     "by layer of section 4.1",
                           .cost = "B"},
                          absolute);
}

std::vector<MetricEntry> gradient_metrics() {
  return {
      metric_sensitivity(),
      metric_of<NormalisedSensitivity>(
          {.name = "sensitivity_normalised",
           .formula = "s_h / sqrt(sum of s_k^2 over the heads k of its attention), s sensitivity",
           .source = "Michel, Levy and Neubig 2019, section 4.1, after Molchanov et al. 2017",
           .cost = "B"}),
      metric_of<ExampleMean>(
          {.name = "sensitivity_per_token",
           .formula = "E_x sum_t |dL(x)/dg_ht|, with a gate for each query t",
           .source = "Michel, Levy and Neubig 2019, equation 2, with the absolute value per token",
           .cost = "B"},
          MetricNeeds{.token_gate_gradients = true}, add_per_token),
      metric_of<ExampleMean>(
          {.name = "sensitivity_per_batch",
           .formula = "E |dL/dg_h|, L the mean loss of a batch (at most 64 examples)",
           .source = "Michel, Levy and Neubig 2019, equation 2, with the absolute value per batch",
           .cost = "B"},
          MetricNeeds{.gate_gradients = true}, add_per_batch),
      of_gate_gradient({.name = "taylor",
                        .formula = "-E_x dL(x)/dg_h",
                        .source = "Molchanov et al. 2017, with the sign kept",
                        .cost = "B"},
                       negative),
      of_gate_gradient({.name = "fisher",
                        .formula = "E_x (dL(x)/dg_h)^2",
                        .source = "Kwon et al. 2022, the diagonal",
                        .cost = "B"},
                       squared),
      metric_of<EntropyAndSensitivity>(
          {.name = "entropy_and_sensitivity",
           .formula = "(s + 1 - H) / 2, sensitivity s and entropy H each scaled to [0, 1] over the "
                      "heads",
           .source = "after Choi et al. 2025 (HIES), arXiv 2510.13832, with equal weights",
           .cost = "B"}),
      // The logits depend on the head even where the loss is 0 and its gradient vanishes.
      metric_of<ExampleMean>({.name = "logit_jacobian",
                              .formula = "E_x (d<u, z(x)>/dg_h)^2, z(x) the logits, mean over 4 "
                                         "draws of u ~ N(0, I)",
                              .source = "headroom: estimates E_x |dz(x)/dg_h|^2",
                              .cost = "B + 3 backward"},
                             MetricNeeds{.logit_gradients = true}, add_logit_jacobian),
      of_batch_shares(
          {.name = "value_path",
           .formula = "E |<W_O^h, dL/dW_O^h>|, L the mean loss of a batch (at most 64 examples)",
           .source = "Yang et al. 2022 (TextPruner); by Euler's identity it is "
                     "sensitivity_per_batch",
           .cost = "B"},
          value_path, HeadRole::output),
      of_batch_shares(
          {.name = "routing_path",
           .formula = "E |<W_Q^h, dL/dW_Q^h> + <b_Q^h, dL/db_Q^h>|, L the mean loss of a batch (at "
                      "most 64 examples)",
           .source = "headroom: the counterpart of value_path for the scores",
           .cost = "B"},
          routing_path, HeadRole::query),
      metric_of<MeanShare>(
          {.name = "parameter_taylor",
           .formula = "sum of |w dL/dw| over the parameters w of h, L the mean loss",
           .source = "Ma et al. 2023 (LLM-Pruner), first order, element by element",
           .cost = "B"},
          parameter_taylor, HeadRole::output),
      metric_of<MeanShare>(
          {.name = "gradient_norms",
           .formula = "|dL/dW_Q^h| |dL/dW_K^h| |dL/dW_V^h|, L the mean loss",
           .source = "Guo and Sheridan 2026 (Greedy-Gnorm), arXiv 2602.04491, measured once",
           .cost = "B"},
          gradient_norms, HeadRole::query),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
