// Adam and AdamW: steps scaled by running means of the gradient and of its square.
#pragma once

#include "headroom/optim/optimizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The constants of Adam and AdamW; the rate is set for each step.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  std::vector<ParameterGroup> groups = {};
};

/// m += (1 - beta1)(g - m);  v = beta2 v + (1 - beta2) g^2;
/// p -= rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon),
/// with decay p added to g. Kingma and Ba 2015, algorithm 1; torch.optim.Adam to the last
/// operation: the bias correction uses the saved step, epsilon is added outside the root.
class Adam : public ElementwiseOptimizer {
 public:
  explicit Adam(Module& model, AdamOptions options = {});
  std::string title() const override;

 protected:
  Adam(Module& model, AdamOptions options, bool decoupled);

 private:
  void update_run(const Run& run, Real* parameter, const Real* gradient, Real* first, Real* second,
                  double rate, double weight_decay) const override;
  double beta1_, beta2_, epsilon_, weight_decay_;
  bool decoupled_;
};

/// The same with decoupled decay: p *= 1 - rate decay before the step, and g stays as it is.
/// Loshchilov and Hutter 2019, algorithm 2; torch.optim.AdamW, whose default decay is 0.01.
class AdamW : public Adam {
 public:
  explicit AdamW(Module& model, AdamOptions options = {.weight_decay = 0.01});
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
