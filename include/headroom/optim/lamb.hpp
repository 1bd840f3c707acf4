// LAMB: Adam's direction, scaled to the norm of the weights.
#pragma once

#include <limits>

#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/parameter_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The constants of Lamb.
struct LambOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;  // added to the direction
  /// phi(z) = min(max(z, smallest_norm), largest_norm); by default the identity.
  double smallest_norm = 0;
  double largest_norm = std::numeric_limits<double>::infinity();
  Granularity granularity = Granularity::tensor;  // of the blocks that have a trust ratio each
  std::vector<ParameterGroup> groups = {};
};

/// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
/// u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + decay p;
/// p -= rate phi(|p|) / |u| u, the norms over each block of `granularity`.
/// You et al. 2020, algorithm 2. The ratio phi(|p|) / |u| is 1 where |p| or |u| is 0, as in the
/// authors' program: a bias that starts at 0 moves like Adam's at first. The decay is decoupled in
/// that it never enters m and v. Throws UsageError for an option outside its range.
class Lamb : public Optimizer {
 public:
  explicit Lamb(Module& model, LambOptions options = {});
  std::string title() const override;

 private:
  void update(std::span<const Moving> parameters) const override;
  LambOptions options_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
