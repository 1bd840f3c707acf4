// Differentiable subset pruning: gates that sum to exactly k.
#include <algorithm>
#include <cmath>
#include <limits>

#include "pruning/gates/all.hpp"
#include "pruning/gates/top_k.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// w_h + Gumbel noise: the k largest of these are a sample of k heads without replacement.
std::vector<double> with_gumbel_noise(std::span<const double> values, const GateStep& step) {
  std::vector<double> noisy(values.begin(), values.end());
  for (std::size_t h = 0; h < noisy.size(); ++h) noisy[h] -= std::log(-std::log(step.noise[h]));
  return noisy;
}

/// One softmax of the k-fold softmax, p = softmax(r / tau), as ln p and ln(1 - p): 1 - p may be as
/// small as e^-10000.
struct Fold {
  std::vector<double> log_p, log_rest;
};

/// ln sum_i e^(x_i) over all i but `without`.
double log_sum_exp(std::span<const double> x, std::size_t without) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i != without) largest = std::max(largest, x[i]);
  }
  if (std::isinf(largest)) return largest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i != without) sum += std::exp(x[i] - largest);
  }
  return largest + std::log(sum);
}

Fold fold_of(const std::vector<double>& r, double tau) {
  const double largest = *std::max_element(r.begin(), r.end());
  std::vector<double> logits = r;
  for (double& logit : logits) logit = (logit - largest) / tau;  // small where it matters
  const double all = log_sum_exp(logits, logits.size());
  Fold fold;
  for (std::size_t h = 0; h < logits.size(); ++h) {
    fold.log_p.push_back(logits[h] - all);
    fold.log_rest.push_back(log_sum_exp(logits, h) - all);
  }
  return fold;
}

/// dL/dr_j from dL/dg and dL/dr_(j+1), where g = sum_j p_j and r_(j+1) = r_j + ln(1 - p_j). The
/// gradient of p_h is d_h = dL/dg_h - n_h / (1 - p_h) with n = dL/dr_(j+1), and that of r_h is
///
///   n_h + p_h (d_h - sum_i p_i d_i) / tau
///   = n_h + [p_h (dL/dg_h - sum_i p_i dL/dg_i - n_h) + sum_(i != h) n_i p_h p_i / (1 - p_i)] / tau
std::vector<double> fold_gradient(const Fold& fold, double tau, std::span<const double> gates,
                                  const std::vector<double>& next) {
  const std::size_t count = next.size();
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i) mean += std::exp(fold.log_p[i]) * gates[i];
  std::vector<double> gradient = next;
  for (std::size_t h = 0; h < count; ++h) {
    double slope = std::exp(fold.log_p[h]) * (gates[h] - mean - next[h]);
    for (std::size_t i = 0; i < count; ++i) {
      if (i == h || next[i] == 0) continue;
      slope += next[i] * std::exp(fold.log_p[h] + fold.log_p[i] - fold.log_rest[i]);
    }
    gradient[h] += slope / tau;
  }
  return gradient;
}

/// The value of a head is w_h. Its gate is the relaxed membership in a sample of exactly k heads,
/// k being GateStep::keep (Li, Cotterell and Sachan 2021, after Xie and Ermon 2019):
///
///   r_1 = w - ln(-ln u),   p_j = softmax(r_j / tau),   r_(j+1) = r_j + ln(1 - p_j),   g = sum_j
///   p_j
///
/// tau falls in geometric steps, until g is 0 or 1 up to rounding.
class Subset : public GateMethod {
 public:
  using GateMethod::GateMethod;

  GateSample sample(std::span<const double> values, const GateStep& step) const override {
    const double tau =
        options().first_temperature *
        std::pow(options().last_temperature / options().first_temperature, step.progress);
    std::vector<Fold> folds;
    std::vector<double> r = with_gumbel_noise(values, step), gates(values.size(), 0);
    for (Index j = 0; j < step.keep; ++j) {
      folds.push_back(fold_of(r, tau));
      for (std::size_t h = 0; h < r.size(); ++h) {
        gates[h] += std::exp(folds.back().log_p[h]);
        r[h] += folds.back().log_rest[h];
      }
    }
    return {gates, [folds, tau](std::span<const double> of_gates) {
              std::vector<double> gradient(of_gates.size(), 0);  // the last r has no effect
              for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold) {
                gradient = fold_gradient(*fold, tau, of_gates, gradient);
              }
              return gradient;
            }};
  }

  double open_heads(std::span<const double> /*values*/, const GateStep& step) const override {
    return double(step.keep);
  }
};

/// The same value w_h, but the gates are 1 for the k largest w_h - ln(-ln u) and 0 for the others;
/// the gradient of a gate is taken as that of w_h.
class SubsetTopK : public Subset {
 public:
  using Subset::Subset;

  GateSample sample(std::span<const double> values, const GateStep& step) const override {
    return {top_k(with_gumbel_noise(values, step), step.keep), [](std::span<const double> gates) {
              return std::vector<double>(gates.begin(), gates.end());
            }};
  }

  bool one_scale() const override { return true; }
};

}  // namespace

GateMethodEntry gates_subset() {
  return {.name = "subset",
          .summary = "random subsets of the size to keep, relaxed",
          .score = "w",
          .source = "Li, Cotterell and Sachan 2021",
          .metric = "subset",
          .make = make_gates<Subset>};
}

GateMethodEntry gates_subset_top_k() {
  return {.name = "subset_top_k",
          .summary = "the same with straight-through gradients",
          .score = "w",
          .source = "Li, Cotterell and Sachan 2021",
          .metric = "subset",
          .make = make_gates<SubsetTopK>};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
