// SGD: stochastic gradient descent, with momentum when asked for.
#pragma once

#include "headroom/optim/optimizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The constants of Sgd.
struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;  // added to the gradient
  std::vector<ParameterGroup> groups = {};
};

/// g += decay p;  v = momentum v + g;  p -= rate v. torch.optim.SGD to the last operation.
class Sgd : public ElementwiseOptimizer {
 public:
  explicit Sgd(Module& model, SgdOptions options = {});
  std::string title() const override;

 private:
  void update_run(const Run& run, Real* parameter, const Real* gradient, Real* first, Real* second,
                  double rate, double weight_decay) const override;
  double momentum_, weight_decay_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
