// Parameters that come back after a trial. Private.
#pragma once

#include <vector>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// At the end of its lifetime a model has its parameters of the beginning, to the bit, and no
/// gradients. In between they may change; then, too, the same heads must be alive again.
class KeptValues {
 public:
  explicit KeptValues(Module& model) : model_(model) {
    for (const NamedParameter& parameter : parameters(model)) {
      values_.push_back(parameter.tensor.value());
    }
  }
  ~KeptValues() {
    std::vector<NamedParameter> all = parameters(model_);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].tensor.set_value(values_[i]);
    zero_grad(model_);
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

 private:
  Module& model_;
  std::vector<Array> values_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
